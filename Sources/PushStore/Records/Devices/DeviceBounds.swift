import PushSupport

/// The bounds on one device's stored attributes and tags, after a registration has been merged with the earlier ones.
package enum DeviceBounds {
    /// The most attributes of one device.
    package static let attributes = 100
    /// The most bytes of one device's attributes with their names, as JSON text.
    package static let attributeBytes = 16 * 1024
    /// The most tags of one device.
    package static let tags = 100
    /// The most bytes of one device's tags together.
    package static let tagBytes = 16 * 1024
    /// The most tokens of Live Activities that one installation has: an update token is of one activity, and nobody
    /// reports its end. The oldest gives way.
    package static let activities = 32

    /// Returns the bound that a device's attributes would exceed; `nil` if none.
    ///
    /// A device that exceeded the bound before may stay as large or shrink, so that old devices can be refreshed.
    static func excess(attributes after: [String: JSONValue], _ text: String, before: Size?) -> ExceededDeviceBound? {
        let before = before ?? Size(count: 0, bytes: 0)
        if after.count > Self.attributes, after.count > before.count {
            return ExceededDeviceBound(field: "attributes", code: "too_many", limit: "\(Self.attributes) attributes")
        }
        if text.utf8.count > Self.attributeBytes, text.utf8.count > before.bytes {
            let limit = "\(Self.attributeBytes) bytes of attributes"
            return ExceededDeviceBound(field: "attributes", code: "too_large", limit: limit)
        }
        return nil
    }

    /// Returns the bound that these tags exceed, which replace all earlier ones; `nil` if none.
    static func excess(tags: Set<BytewiseString>) -> ExceededDeviceBound? {
        if tags.count > Self.tags {
            return ExceededDeviceBound(field: "tags", code: "too_many", limit: "\(Self.tags) tags")
        }
        let bytes = tags.reduce(0) { $0 + $1.text.utf8.count }
        guard bytes > Self.tagBytes else { return nil }
        return ExceededDeviceBound(field: "tags", code: "too_large", limit: "\(Self.tagBytes) bytes of tags")
    }

    /// The number and size of stored attributes.
    struct Size: Hashable, Sendable {
        var count, bytes: Int
    }
}

/// A bound that a registration would exceed.
package struct ExceededDeviceBound: Hashable, Sendable {
    /// The member of the registration at fault.
    package var field: String
    /// The code of the API error.
    package var code: String
    /// The bound in words, such as `100 attributes`.
    package var limit: String
}

/// The tags or attributes that installations may write, by their names or the beginnings of those.
package struct NamePatterns: Hashable, Sendable {
    /// The most patterns of an app.
    package static let maximum = 100

    /// Names; one that ends in `*` stands for every name that begins with the rest.
    package var texts: [String]

    package init(_ texts: [String] = []) { self.texts = texts }

    /// Returns `true` if a text can be a pattern: a star only ends it, and no line end is in it.
    package static func isPattern(_ text: String) -> Bool {
        !text.dropLast().contains("*") && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }

    package func match(_ name: String) -> Bool {
        self.texts.contains { pattern in
            pattern.last == "*"
                ? name.utf8.starts(with: pattern.utf8.dropLast()) : name.utf8.elementsEqual(pattern.utf8)
        }
    }

    /// Reads the stored form: one pattern a line.
    init(stored text: String?) { self.init((text ?? "").split(separator: "\n").map(String.init)) }

    /// The form in the database; `nil` for none.
    var stored: String? { self.texts.isEmpty ? nil : self.texts.joined(separator: "\n") }
}
