(package_declaration (_) @name) @package

(class_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(annotation_type_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_constant name: (_) @name) @constant
(method_declaration name: (_) @name body: (_) @body) @method
(method_declaration name: (_) @name !body) @method
(annotation_type_element_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name body: (_) @body) @method
(compact_constructor_declaration name: (_) @name body: (_) @body) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant

[(identifier) (type_identifier)] @reference
