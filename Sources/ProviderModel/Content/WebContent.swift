import PushSupport

/// The content of a notification for browsers: the member `web` of a request. Service workers get it unchanged.
enum WebContent {
    static let member = "web"
    static let contentMember = Member.openObject(
        Self.member,
        as: .object(isOpen: true).withMembers
            .described("The whole content for browsers, which their service worker gets as it is.")
    )

    /// Returns whether the notification of a request goes to browsers.
    static func isWanted(_ fields: JSONFields) -> Bool { fields.members[Self.member] != nil }

    /// Reads the payload.
    /// - Throws: ``RequestError`` for an empty payload, and for members of the request that do not apply to browsers.
    static func payload(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        guard let payload = try fields.value(Self.contentMember), !payload.isEmpty else {
            throw fields.error(Self.member, "missing_content", "give the object that the service worker gets")
        }
        for name in ["topic", "environment"] where fields.members[name] != nil {
            throw fields.error(name, "conflicting_field", "a browser's subscription has none: leave this out")
        }
        if fields.members["encrypted"] == .bool(true) {
            let message = "what browsers get is encrypted to each of them already: leave this out"
            throw fields.error("encrypted", "conflicting_field", message)
        }
        return payload
    }

    /// Merges the payload of a localization into the default one. A member that is `null` there is removed.
    static func localized(
        _ fields: JSONFields,
        over base: [String: JSONValue]
    ) throws(RequestError) -> [String: JSONValue] {
        let own = try fields.required(Self.contentMember, "the localization of web has the member web")
        return base.merging(own) { $1 }.filter { $0.value != .null }
    }

    /// Returns a warning for a payload without a title, which shows nothing, or `nil` for one with a title.
    static func warning(_ payload: [String: JSONValue], at field: String) -> ContentWarning? {
        // A declarative message has its title in the member `notification`.
        let titles = [payload["title"], payload["notification"]?["title"]].compactMap { $0?.stringValue }
        guard titles.allSatisfy(\.isEmpty) else { return nil }
        let message = "it has no title: browsers withdraw the permission of a page whose messages show nothing"
        return ContentWarning(field: field, message: message)
    }
}
