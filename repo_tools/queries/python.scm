; How to read these files. A pattern captures a definition by its kind (@class, @function, …), and with it its @name,
; its @body where it has one, and an @owner that stands elsewhere than around it. @scope and @package give their name
; to what they hold (a package: all that follows) and are no definitions themselves. @extent is what belongs to the
; definition @inner and surrounds it. A @reference is a token that names something in code.

(class_definition name: (identifier) @name body: (_) @body) @class
(function_definition name: (identifier) @name body: (_) @body) @function
(type_alias_statement left: (type (identifier) @name)) @type
(module (expression_statement (assignment left: (identifier) @name)) @variable)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @variable))
(decorated_definition definition: (_) @inner) @extent

(identifier) @reference
