(namespace_definition name: (_) @name !body) @package

(namespace_definition name: (_) @name body: (_) @body) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @trait
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_case name: (_) @name) @constant
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_) @body) @method
(method_declaration name: (_) @name !body) @method
(const_declaration (const_element (name) @name)) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @field

(name) @reference
