; What JavaScript and TypeScript have in common.

(class_declaration name: (_) @name body: (_) @body) @class
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @method

(variable_declarator
  name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(program [(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
          (variable_declaration (variable_declarator name: (identifier) @name) @variable)])
(export_statement declaration: [(lexical_declaration (variable_declarator name: (identifier) @name) @variable)
                                (variable_declaration (variable_declarator name: (identifier) @name) @variable)])
(pair
  key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @function

(assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#not-match? @owner "^(exports|module|this)$")) @function
(assignment_expression
  left: (member_expression
    object: [(identifier) @_exports (member_expression property: (property_identifier) @_exports)]
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#eq? @_exports "exports")) @function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#eq? @_prototype "prototype")) @method

(export_statement declaration: (_) @inner) @extent
(lexical_declaration . (variable_declarator) @inner .) @extent
(variable_declaration . (variable_declarator) @inner .) @extent
(export_statement declaration: (lexical_declaration . (variable_declarator) @inner .)) @extent
(expression_statement (assignment_expression) @inner) @extent

[(identifier) (property_identifier) (private_property_identifier)
 (shorthand_property_identifier) (shorthand_property_identifier_pattern)] @reference
