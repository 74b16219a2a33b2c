package import PushSupport

/// The request that sets the publisher's server, which decides about the entitlement of accounts.
package enum EntitlementServerRequest {
    package static let form = Member.choice("form", of: EntitlementServerRecord.Form.self).described("Default json.")
    package static let whenDown = Member.choice("whenDown", of: EntitlementServerRecord.WhenDown.self)
        .described("Default allowKnown.")
    /// The secret shared with the server: printable ASCII without spaces, so that a header can carry it.
    package static let secret = Member.text("secret", maximum: 256, as: .string(length: 16...256, pattern: "^[!-~]+$"))
        .described("Default: the present one, or a new one.")
        .checked("invalid_value", "use 16 to 256 printable ASCII characters") { text in
            text.utf8.count >= 16 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        }
    package static let object = RequestObject(
        required: [Member.url],
        optional: [Self.form, Self.whenDown, Self.secret]
    ) { $0.example(.texts(["url": "https://publisher.example.com/entitlements", "form": "json"])) }
}
