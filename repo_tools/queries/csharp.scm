(file_scoped_namespace_declaration name: (_) @name) @package

(namespace_declaration name: (_) @name body: (_) @body) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name) @class
(struct_declaration name: (_) @name body: (_) @body) @struct
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_member_declaration name: (_) @name) @constant
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name body: (_) @body) @method
(method_declaration name: (_) @name !body) @method
(local_function_statement name: (_) @name body: (_) @body) @function
(constructor_declaration name: (_) @name body: (_) @body) @method
(property_declaration name: (_) @name) @field
(event_declaration name: (_) @name) @field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field

(identifier) @reference
