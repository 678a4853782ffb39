(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body name: (_) @name @constant)
(enum_assignment name: (_) @name) @constant
(module name: (_) @name body: (_) @body) @namespace
(internal_module name: (_) @name body: (_) @body) @namespace
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @method
(method_signature name: (_) @name) @method
(public_field_definition name: (_) @name) @field
(interface_body (property_signature name: (_) @name) @field)

(ambient_declaration (_) @inner) @extent

(type_identifier) @reference
