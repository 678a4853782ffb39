(package_clause (package_identifier) @name) @package

(function_declaration name: (_) @name body: (_) @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])]))
  name: (_) @name
  body: (_) @body) @method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(method_elem name: (_) @name) @method
(field_declaration name: (_) @name) @field
(source_file (const_declaration (const_spec name: (_) @name) @constant))
(source_file (var_declaration [(var_spec name: (_) @name) @variable (var_spec_list (var_spec name: (_) @name) @variable)]))

(type_declaration . (_) @inner .) @extent
(const_declaration . (const_spec) @inner .) @extent
(var_declaration . (var_spec) @inner .) @extent

[(identifier) (type_identifier) (field_identifier) (package_identifier)] @reference
