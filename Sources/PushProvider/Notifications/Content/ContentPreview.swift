package import PushStore

/// The payload that one device would get, shown before anything is sent.
package struct ContentPreview: Hashable, Sendable {
    /// The JSON text.
    package var payload: [UInt8]
    /// The localization that the device gets, in lower case with hyphens; `nil` is the default.
    package var locale: String?

    /// - Parameters:
    ///   - profile: the device; `nil` shows the default variant, with variables at their defaults or empty.
    ///   - badge: the count that the device would show.
    /// - Throws: ``RenderFailure`` where sending to this device would fail.
    package init(_ content: NotificationContent, for profile: RecipientProfile?, badge: Int? = nil)
        throws(RenderFailure)
    {
        var renderer = try ContentRenderer(content)
        if let profile {
            self.payload = try renderer.render(for: profile, badge: badge)
            self.locale = renderer.variant(for: profile.locale)
        } else {
            self.payload = renderer.samples().first?.payload ?? []
        }
    }
}
