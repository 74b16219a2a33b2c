import Foundation

extension JSONValue {
    /// Reads the dictionary that the system gives for a payload.
    ///
    /// Values that are not JSON are left out, and so are those that exceed the bounds: a hostile payload must not end the
    /// app that it wakes.
    static func members(of userInfo: [AnyHashable: Any]) -> [String: JSONValue] {
        var remaining = Bounds.values
        return Self.members(of: userInfo, depth: 1, remaining: &remaining)
    }

    private static func members(
        of dictionary: [AnyHashable: Any],
        depth: Int,
        remaining: inout Int
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String else { continue }
            members[name] = Self.value(of: value, depth: depth, remaining: &remaining)
        }
        return members
    }

    /// Returns the value of an object of the system's; `nil` if it is none or beyond the bounds.
    private static func value(of object: Any, depth: Int, remaining: inout Int) -> JSONValue? {
        remaining -= 1
        guard remaining >= 0, depth < Bounds.depth else { return nil }
        // An `NSNumber` of 0 or 1 could be cast to `Bool` too.
        if type(of: object) == Bool.self { return (object as? Bool).map { .bool($0) } }
        // Containers before everything else: a cast of one to an object's class would convert all that is in it, however deep.
        switch object {
        case let dictionary as [AnyHashable: Any]:
            return .object(Self.members(of: dictionary, depth: depth + 1, remaining: &remaining))
        case let elements as [Any]:
            var values: [JSONValue] = []
            for element in elements {
                guard remaining > 0 else { break }
                guard let value = Self.value(of: element, depth: depth + 1, remaining: &remaining) else { continue }
                values.append(value)
            }
            return .array(values)
        case let text as String: return .string(text)
        case let number as NSNumber: return Self.number(number)
        case is NSNull: return .null
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> JSONValue {
        switch String(cString: number.objCType) {
        // A Boolean; a number of eight bits has the same letter, and no payload makes one.
        case "c", "B": .bool(number.boolValue)
        case "d", "f": Int64(exactly: number.doubleValue).map { .integer($0) } ?? .number(number.doubleValue)
        // One of 64 bits without a sign may be too large for an integer.
        case "Q": Int64(exactly: number.uint64Value).map { .integer($0) } ?? .number(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}
