import PushSupport

/// The bounds on what is stored of one device, after a registration has been merged with what was there.
package enum DeviceBounds {
    /// Attributes of one device.
    package static let attributes = 100
    /// Names and values of one device's attributes as JSON text, in bytes.
    package static let attributeBytes = 16 * 1024
    /// Tags of one device.
    package static let tags = 100
    /// Tags of one device together, in bytes.
    package static let tagBytes = 16 * 1024

    /// The bound that a device would exceed; `nil` if it may become so.
    ///
    /// A device that exceeded the bound before may stay as large and may shrink, so that old devices can be refreshed.
    static func excess(attributes after: [String: JSONValue], _ text: String, before: Size?) -> DeviceExcess? {
        let before = before ?? Size(count: 0, bytes: 0)
        if after.count > Self.attributes, after.count > before.count {
            return DeviceExcess(field: "attributes", code: "too_many", limit: "\(Self.attributes) attributes")
        }
        if text.utf8.count > Self.attributeBytes, text.utf8.count > before.bytes {
            let limit = "\(Self.attributeBytes) bytes of attributes"
            return DeviceExcess(field: "attributes", code: "too_large", limit: limit)
        }
        return nil
    }

    /// The bound that these tags exceed, which replace all earlier ones; `nil` if none.
    static func excess(tags: Set<String>) -> DeviceExcess? {
        if tags.count > Self.tags { return DeviceExcess(field: "tags", code: "too_many", limit: "\(Self.tags) tags") }
        let bytes = tags.reduce(0) { $0 + $1.utf8.count }
        guard bytes > Self.tagBytes else { return nil }
        return DeviceExcess(field: "tags", code: "too_large", limit: "\(Self.tagBytes) bytes of tags")
    }

    /// The amount that is stored.
    struct Size: Hashable, Sendable {
        var count: Int
        var bytes: Int
    }
}

/// A bound that a registration would exceed.
package struct DeviceExcess: Hashable, Sendable {
    /// The member of the registration at fault.
    package var field: String
    package var code: String
    /// In words, such as `100 attributes`.
    package var limit: String

    package init(field: String, code: String, limit: String) {
        self.field = field
        self.code = code
        self.limit = limit
    }
}
