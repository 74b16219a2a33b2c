import Foundation
package import PushSupport
package import PushTypes

extension ContentDefinition {
    /// The members of a request that are content.
    package static let members = PayloadBuilder.members.union(ContentHeaders.members)
        .union(["payload", "localizations", "template"])

    /// Reads the content of a request and checks it against the rules of the push service, so that what it would refuse
    /// for certain is refused before anything is stored.
    ///
    /// - Parameters:
    ///   - bundleID: the topic is made from it, unless the request names one.
    ///   - now: the moment of a Live Activity's state where the request names none; `nil`: then it must.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields, bundleID: Topic, now: Timestamp?) throws(RequestError) {
        let headers = try ContentHeaders(fields, bundleID: bundleID)
        let builder = PayloadBuilder(fields: fields, pushType: headers.pushType, now: now)
        var variants = [Variant(names: FieldNames(isRaw: builder.isRaw, locale: nil), payload: try builder.payload())]
        var stored = StoredContent(payload: variants[0].payload)
        stored.badge = try builder.badgeChange()
        try variants[0].checkTextSize()
        let localizations = try LocalizationBuilder(
            fields: fields,
            pushType: headers.pushType,
            isRaw: builder.isRaw,
            base: stored.payload
        ).localizations()
        for localization in localizations {
            let names = FieldNames(isRaw: builder.isRaw, locale: localization.key)
            variants.append(Variant(names: names, payload: localization.payload))
            stored.localizations[localization.tag.name] = localization.payload
        }

        var templates = TemplateCheck(hasVariables: try fields.bool("template") ?? false)
        for variant in variants { try templates.check(variant.payload, names: variant.names) }
        stored.hasVariables = templates.hasVariables && templates.firstMark != nil

        var warnings = headers.warnings
        try Self.lint(variants, headers, hasBadge: stored.badge != nil, &warnings)
        guard let payload = try? stored.text,
            let renderer = try? ContentRenderer(
                payload: payload,
                isTemplate: stored.isTemplate,
                pushType: headers.pushType
            )
        else { throw variants[0].refusal("invalid_value", "the payload cannot be written as JSON") }
        try Self.checkSizes(variants, localizations, renderer, headers.pushType)
        Self.warnAboutVariables(headers, templates, renderer, &warnings)

        self.topic = headers.topic
        self.pushType = headers.pushType
        self.priority = headers.priority
        self.expiration = headers.expiration
        self.collapseID = headers.collapseID
        self.payload = payload
        self.isTemplate = stored.isTemplate
        self.warnings = warnings
    }

    /// Largest payload before variables are filled in, in bytes: each localisation is a copy of the default payload, so
    /// that a request of a megabyte could otherwise become a hundred.
    private static let maximumText = 32 * 1024

    /// The payload for some of the devices.
    private struct Variant {
        var names: FieldNames
        var payload: [String: JSONValue]

        /// Before anything is copied.
        func checkTextSize() throws(RequestError) {
            guard let text = try? JSONValue.object(self.payload).text else {
                throw self.refusal("invalid_value", "the payload cannot be written as JSON")
            }
            guard text.count <= ContentDefinition.maximumText else {
                let message = "the payload has \(text.count) bytes, far more than any device may get"
                throw self.refusal("payload_too_large", message)
            }
        }

        /// A fault of the payload as a whole.
        func refusal(_ code: String, _ message: String) -> RequestError {
            RequestError(.invalid, code: code, message: message, path: self.names.whole)
        }
    }

    /// What the default payload is warned about is not said again for each localisation.
    private static func lint(
        _ variants: [Variant],
        _ headers: ContentHeaders,
        hasBadge: Bool,
        _ warnings: inout [ContentWarning]
    ) throws(RequestError) {
        var said: Set<String> = []
        for variant in variants {
            var lint = PayloadLint(
                pushType: headers.pushType,
                priority: headers.priority,
                isWallet: headers.isWallet,
                names: variant.names
            )
            try lint.check(hasBadge ? Self.withBadge(variant.payload) : variant.payload)
            warnings += lint.warnings.filter { said.insert($0.message).inserted || variant.names.locale == nil }
        }
    }

    /// As it will be once the badge is put in.
    private static func withBadge(_ payload: [String: JSONValue]) -> [String: JSONValue] {
        var payload = payload
        if case .object(var aps)? = payload["aps"] {
            aps["badge"] = .integer(1)
            payload["aps"] = .object(aps)
        }
        return payload
    }

    /// At its shortest, each payload must fit; what devices' values make longer is found out when it is rendered.
    private static func checkSizes(
        _ variants: [Variant],
        _ localizations: [LocalizationBuilder.Localization],
        _ renderer: ContentRenderer,
        _ pushType: PushType
    ) throws(RequestError) {
        let limit = pushType.maximumPayloadSize
        for (locale, payload) in renderer.samples() where payload.count > limit {
            let index = localizations.firstIndex { $0.tag.name == locale }.map { $0 + 1 } ?? 0
            throw variants[index].refusal(
                "payload_too_large",
                "the payload has \(payload.count) bytes, \(pushType.rawValue) allows \(limit)"
            )
        }
    }

    private static func warnAboutVariables(
        _ headers: ContentHeaders,
        _ templates: TemplateCheck,
        _ renderer: ContentRenderer,
        _ warnings: inout [ContentWarning]
    ) {
        if let field = templates.firstMark, !templates.hasVariables {
            let message = "{{ is sent as it is: with template true it would stand for a value of the device"
            warnings.append(ContentWarning(field: field, message: message))
        }
        if headers.collapseID.map(TemplateText.hasMarks) ?? false {
            warnings.append(ContentWarning(field: "collapseId", message: "variables are put into the payload only"))
        }
        for name in renderer.namesWithoutDefault.sorted() {
            let message = "devices without \(name) get nothing: write {{\(name)|something}} to give a default"
            warnings.append(ContentWarning(field: "template", message: message))
        }
    }
}
