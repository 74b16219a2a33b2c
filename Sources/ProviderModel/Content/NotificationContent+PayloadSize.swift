import PushSupport
import PushTypes

extension NotificationContent {
    /// The maximum size of a payload before variables are filled in, in bytes. Larger payloads are rejected.
    ///
    /// It keeps requests small in memory, where each localization copies the default payload, up to a hundred times.
    fileprivate static let maximumText = 32 * 1024

    /// Returns the minimum size in bytes of the payload for each locale. The default payload has the locale `nil`.
    /// - Throws: ``PayloadTemplate/Damage`` for content that cannot be read again.
    static func sizes(_ content: NotificationContent) throws -> [(locale: String?, size: Int)] {
        var lengths: [(locale: String?, length: Int)] = [(nil, content.payload.count)]
        if content.isTemplate { lengths = try PayloadTemplate(stored: content.payload).minimumLengths() }
        let marker = PayloadMarker(content, notification: PayloadMarker.sampleID)
        let envelope = try? EnvelopeText(content, notification: PayloadMarker.sampleID)
        return lengths.map { locale, length in
            let marked = marker?.length(ofMarked: length) ?? length
            return (locale, envelope?.size(ofPayload: marked) ?? marked)
        }
    }

    /// Checks that the minimum size of each payload is within the limit. Values of variables are checked at rendering.
    static func checkSizes(
        _ variants: [Variant],
        _ localizations: [LocalizationBuilder.Localization],
        _ sizes: [(locale: String?, size: Int)],
        _ content: NotificationContent
    ) throws(RequestError) {
        // Only a broadcast has no kind of tokens.
        let isBroadcast = content.tokenKind == nil
        let name = content.isWeb ? WebContent.member : content.pushType.rawValue
        let limit = isBroadcast ? Broadcast.maximumPayloadSize : content.maximumPayloadSize
        for (locale, size) in sizes where size > limit {
            let what = content.placeholder == nil ? "" : " once it is encrypted"
            let index = localizations.firstIndex { $0.tag.name == locale }.map { $0 + 1 } ?? 0
            throw variants[index].error(
                "payload_too_large",
                "the payload has \(size) bytes\(what), \(name) allows \(limit)"
            )
        }
    }
}

extension NotificationContent.Variant {
    /// Checks the size of the payload's text before anything is copied.
    func checkTextSize() throws(RequestError) {
        guard let text = try? JSONValue.object(self.payload).text
        else { throw self.error("invalid_value", "the payload cannot be written as JSON") }
        guard text.count <= NotificationContent.maximumText else {
            let message = "the payload has \(text.count) bytes, far more than any device may get"
            throw self.error("payload_too_large", message)
        }
    }
}
