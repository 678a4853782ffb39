(namespace_definition name: (_) @name body: (_) @body) @namespace
(class_specifier name: (_) @name body: (_) @body) @class
(function_definition
  declarator: (reference_declarator (function_declarator declarator: (_) @name))
  body: (_) @body) @function
(function_definition declarator: (function_declarator declarator: (_) @name) !body) @function
(declaration declarator: (function_declarator declarator: (destructor_name) @name)) @function
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (identifier) (operator_name) (destructor_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @function
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type

(template_declaration (_) @inner) @extent

(namespace_identifier) @reference
