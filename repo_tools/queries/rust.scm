(impl_item type: (_) @name body: (_) @body) @scope

(struct_item name: (_) @name body: (_)? @body) @struct
(union_item name: (_) @name) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(enum_variant name: (_) @name) @constant
(trait_item name: (_) @name body: (_) @body) @trait
(mod_item name: (_) @name body: (_) @body) @namespace
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @macro
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @variable
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(field_declaration name: (_) @name) @field

[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @reference
