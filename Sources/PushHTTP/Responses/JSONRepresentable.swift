package import Foundation
package import PushSupport
package import PushTypes

/// A value that has a JSON form for responses and a schema for the OpenAPI document.
package protocol JSONRepresentable: Sendable {
    static var schema: Schema { get }
    var json: JSONValue { get }
}

extension JSONValue: JSONRepresentable {
    package static var schema: Schema { .object(isOpen: true) }
    package var json: JSONValue { self }
}

extension Bool: JSONRepresentable {
    package static var schema: Schema { .bool }
    package var json: JSONValue { .bool(self) }
}

extension Double: JSONRepresentable {
    package static var schema: Schema { .number }
    package var json: JSONValue { .number(self) }
}

extension JSONRepresentable where Self: FixedWidthInteger {
    package static var schema: Schema { .integer() }
    package var json: JSONValue { .integer(Int64(clamping: self)) }
}

extension Int: JSONRepresentable {}
extension Int64: JSONRepresentable {}
extension UInt8: JSONRepresentable {}
extension UInt32: JSONRepresentable {}

extension String: JSONRepresentable {
    package static var schema: Schema { .string() }
    package var json: JSONValue { .string(self) }
}

extension UUID: JSONRepresentable {
    package static var schema: Schema { .uuid }
    package var json: JSONValue { .string(self.uuidString) }
}

extension Timestamp: JSONRepresentable {
    package static var schema: Schema { .timestamp }
    package var json: JSONValue { .integer(self.milliseconds) }
}

extension Topic: JSONRepresentable {
    package static var schema: Schema { .string() }
    package var json: JSONValue { .string(self.name) }
}

/// The representation of an enumeration in JSON, which is the raw value of its case. The schema lists all cases.
extension JSONRepresentable where Self: RawRepresentable<String> & CaseIterable {
    package static var schema: Schema { .choice(of: Self.self) }
    package var json: JSONValue { .string(self.rawValue) }
}

extension PushEnvironment: JSONRepresentable {
    package static var schema: Schema { .environment }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
    package static var schema: Schema { .array(of: Element.schema) }
    // A key path would be instantiated on every call, because the type is generic.
    package var json: JSONValue { .array(self.map { $0.json }) }
}

extension Dictionary: JSONRepresentable where Key == String, Value: JSONRepresentable {
    package static var schema: Schema { .map(of: Value.schema) }
    package var json: JSONValue { .object(self.mapValues { $0.json }) }
}
