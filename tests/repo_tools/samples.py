"""A small source in each language, and what it defines."""

from __future__ import annotations

PYTHON = '''"""A module."""

import os

LIMIT: int = 10
LIMIT = 11
type Pair = tuple[int, int]


@decorated("(")
class Shape(Base):
    """A docstring with `code` in it."""

    sides = 0

    @property
    async def area(self) -> float:
        def inner(x):
            return x

        return inner(self.sides * os.cpu_count())


if LIMIT:

    def late(
        first,
        second=(1, 2),
    ):
        # Says nothing of what `late` takes.
        pass
'''

JAVASCRIPT = """import { x } from './x.js';

/** A class. */
export default class Stack extends Base {
  #items = [];
  static made = 0;
  constructor() { super(); }
  get top() { return this.#items.at(-1); }
  async *walk(each) { yield* this.#items; }
}

const double = (n) => 2 * n, triple = function (n) { return 3 * n; };
export const later = async () => {};
exports.plain = function () {};
module.exports.other = () => 1;
Stack.prototype.peek = function () {};
var options = { on: function () {}, off() {}, depth: 3 };
function* numbers() { yield 1; }
let { a, b } = options;
"""

TYPESCRIPT = """export abstract class Store<T> implements Readable<T> {
  private size: number = 1;
  abstract open(): void;
  constructor(readonly name: string) {}
  @logged() get(key: string): T | undefined { return undefined; }
}
export interface Readable<T> { name: string; get(key: string): T | undefined; }
export type Key = 'a' | 'b';
export enum Level { Low = 1, High }
declare module "plugin" { export function load(name: string): void; }
namespace Deep.Inner { export const x = 1; }
declare function external(x: string): number;
"""

TSX = """export const Button: React.FC<Props> = ({ label }) => <button onClick={() => 1}>{label}</button>;
export function Page() { return <><Button label="x" /></>; }
"""

GO = """// Package web routes.
package web

import "net/http"

type Mux struct {
	handler http.Handler
}

type Router interface {
	Route(path string) Router
}

type (
	Alias      = int
	Tree[T any] struct{ root *T }
)

// Route adds a route.
func (mx *Mux) Route(path string) Router { return nil }
func (t Tree[T]) Walk()                  {}
func New[T any](size int) *Mux           { return nil }

const Max = 1
const (
	First = iota
	Second
)

var left, right = 1, 2
var (
	ErrGone = errors.New("gone")
)
"""

RUST = """//! A crate.
use std::fmt;

#[derive(Debug)]
pub struct Buf<T> {
    len: usize,
}

pub enum Kind { Small, Large(u32) }

pub trait Take {
    type Item;
    fn take(&self) -> Self::Item;
    fn both(&self) {}
}

impl<T> Buf<T> {
    const EMPTY: usize = 0;
    pub fn new() -> Self { Buf { len: 0 } }
}

impl fmt::Display for Buf<u8> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) }
}

mod inner { pub fn hidden() {} }
macro_rules! twice { ($e:expr) => { $e; $e } }
pub static COUNT: i32 = 1;
"""

JAVA = """package com.example.shop;

import java.util.List;

@Entity
public class Order<T> extends Base {
    private int total = 1, tax;
    Order() {}
    @Override public void add(T item) throws Full { total++; }
    enum State { OPEN, CLOSED; boolean done() { return this == CLOSED; } }
    interface Listener { void changed(); int MAX = 1; }
    record Line(int amount) { Line { } }
    @interface Checked { int value(); }
}
"""

C = """#ifndef LIST_H
#define LIST_H
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A node. */
typedef struct node { int value; struct node *next; int (*free)(struct node *); } node;
typedef struct { int x; } point;
typedef int (*compare)(int, int);
enum colour { RED, GREEN };
static int *find(struct node *list, int value)
{
    return 0;
}
int length(const struct node *list);
int limit = 1;
#endif
"""

CPP = """namespace geo::flat {
class Shape : public Base {
 public:
  Shape();
  ~Shape();
  double area() const { return 0; }
  template <class T> void draw(T on);
  bool operator==(const Shape &) const;
  int sides;
  enum class Kind { Round };
};
}  // namespace geo::flat

void geo::flat::Shape::draw2(int x) { }
template <typename T> T largest(T a) { return a; }
using Size = int;
int &counter(int a) { return a; }
"""

CSHARP = """namespace Shop.Orders
{
    [Serializable]
    public class Order<T> : Base
    {
        private int total = 1;
        public int Tax { get; set; }
        public Order() { }
        public void Add(int amount) => total += amount;
        event Changed OnChanged;
    }
    interface IStore { void Save(); }
    enum State { Open }
    record Line(int Amount);
    delegate void Changed(int amount);
}
"""

RUBY = """module Shop::Orders
  class Order < Base
    LIMIT = 1
    attr_accessor :total, :tax

    # Adds.
    def add(item) = @total += item

    def self.build; end
    def ==(other); end

    class << self
      def open?; true; end
    end
  end
end
"""

PHP = """<html><?php
namespace Shop\\Orders;

use Shop\\Base;

/** An order. */
#[Entity]
final class Order extends Base implements Countable
{
    const LIMIT = 1;
    private $total = 1;
    public function add(int $amount): void { $this->total += $amount; }
}
interface Store { function save(); }
trait Counts { function counted() { return 1; } }
enum State: string { case Open = 'open'; }
function build() { return new Order(); }
?></html>
"""

SOURCES = {
    "shape.py": PYTHON.encode(),
    "stack.mjs": JAVASCRIPT.encode(),
    "store.ts": TYPESCRIPT.encode(),
    "page.tsx": TSX.encode(),
    "web.go": GO.encode(),
    "buf.rs": RUST.encode(),
    "Order.java": JAVA.encode(),
    "list.c": C.encode(),
    "shape.hpp": CPP.encode(),
    "Order.cs": CSHARP.encode(),
    "order.rb": RUBY.encode(),
    "order.php": PHP.encode(),
}
