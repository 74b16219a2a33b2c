package import PushSupport

/// The limits on a device's attributes and tags. Those of earlier registrations count too.
package enum DeviceLimits {
    /// The maximum number of attributes of a device. A registration that would exceed it is rejected.
    package static let attributes = 100
    /// The maximum size of a device's attributes, in bytes of JSON text. A larger registration is rejected.
    package static let attributeBytes = 16 * 1024
    /// The maximum number of tags of a device. A registration with more is rejected.
    package static let tags = 100
    /// The maximum total size of a device's tags, in bytes. A larger registration is rejected.
    package static let tagBytes = 16 * 1024
    /// The maximum number of update tokens of Live Activities of an installation. The end of an activity is not
    /// reported, so a further token replaces the oldest.
    package static let activities = 32

    /// Returns the limit on attributes that a device's registration would exceed, or `nil` for none.
    /// - Parameters:
    ///   - after: The attributes that the device would have, whose JSON text is `text`.
    ///   - before: The size of the stored attributes, or `nil` for a new device. It may exceed a limit, but not grow.
    package static func excess(
        attributes after: [String: JSONValue],
        _ text: String,
        before: Size?
    ) -> ExceededDeviceLimit? {
        let before = before ?? Size(count: 0, bytes: 0)
        if after.count > Self.attributes, after.count > before.count {
            return ExceededDeviceLimit(field: "attributes", code: "too_many", limit: "\(Self.attributes) attributes")
        }
        if text.utf8.count > Self.attributeBytes, text.utf8.count > before.bytes {
            let limit = "\(Self.attributeBytes) bytes of attributes"
            return ExceededDeviceLimit(field: "attributes", code: "too_large", limit: limit)
        }
        return nil
    }

    /// Returns the limit that a device's new tags exceed, or `nil` for none.
    package static func excess(tags: Set<BytewiseString>) -> ExceededDeviceLimit? {
        if tags.count > Self.tags {
            return ExceededDeviceLimit(field: "tags", code: "too_many", limit: "\(Self.tags) tags")
        }
        let bytes = tags.reduce(0) { $0 + $1.text.utf8.count }
        guard bytes > Self.tagBytes else { return nil }
        return ExceededDeviceLimit(field: "tags", code: "too_large", limit: "\(Self.tagBytes) bytes of tags")
    }

    /// The number and the size of a device's stored attributes.
    package struct Size: Hashable, Sendable {
        package var count, bytes: Int

        package init(count: Int, bytes: Int) { (self.count, self.bytes) = (count, bytes) }
    }
}

/// A limit that a registration would exceed.
package struct ExceededDeviceLimit: Hashable, Sendable {
    /// The member of the registration at fault.
    package var field: String
    /// The code of the API error.
    package var code: String
    /// The limit in words, such as `100 attributes`.
    package var limit: String

    package init(field: String, code: String, limit: String) {
        (self.field, self.code, self.limit) = (field, code, limit)
    }
}
