(module name: (_) @name) @namespace
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(assignment left: (constant) @name) @constant
(call
  method: (identifier) @_accessor
  arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_accessor "attr_accessor" "attr_reader" "attr_writer")) @field

[(identifier) (constant)] @reference
