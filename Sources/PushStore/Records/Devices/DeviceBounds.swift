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
