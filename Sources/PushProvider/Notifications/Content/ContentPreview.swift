import PushTypes

/// What one device would get, shown before anything is sent.
package struct ContentPreview: Hashable, Sendable {
    /// The JSON text.
    package var payload: [UInt8]
    /// The localisation that the device gets, in lower case with hyphens; `nil` is the default.
    package var locale: String?
    /// The largest payload of the push type, in bytes.
    package var limit: Int
    package var warnings: [ContentWarning]

    /// - Parameter subject: without one, the default variant is shown, variables with their defaults or empty.
    /// - Throws: ``RenderFailure`` where sending to this device would fail.
    package init(_ content: ContentDefinition, for subject: RenderSubject?) throws(RenderFailure) {
        self.limit = content.pushType.maximumPayloadSize
        self.warnings = content.warnings
        var renderer = try ContentRenderer(
            payload: content.payload,
            isTemplate: content.isTemplate,
            pushType: content.pushType
        )
        if let subject {
            self.payload = try renderer.render(for: subject)
            self.locale = renderer.variant(for: subject.locale)
        } else {
            self.payload = renderer.samples().first?.payload ?? []
        }
    }
}
