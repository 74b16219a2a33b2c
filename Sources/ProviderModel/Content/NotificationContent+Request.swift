package import PushSupport
package import PushTypes

extension NotificationContent {
    /// The members of a request that are content.
    package static let object = RequestObject(
        optional: PayloadBuilder.object.members,
        ContentHeaders.object.members,
        EncryptionRequest.object.members,
        [PayloadBuilder.payloadMember, LocalizationBuilder.member, Self.templateMember, ReceiptSetting.member]
    )

    /// The member `template` as a Boolean, which is `true` if the content has variables. The member may be a
    /// ``TemplateReference`` instead.
    private static let templateMember = RequestMember<Bool>(
        TemplateReference.member,
        .any(of: [.bool, TemplateReference.object.schema])
            .described(
                "true: the content has variables. An object: the content is that of a template, but for own members."
            )
    ) { (fields, name) throws(RequestError) in try fields.bool(name) }

    /// Reads the content of a request and checks it against the rules of the push service.
    ///
    /// A push that the push service would certainly reject is not stored (reference 1.5, 1.6, 3).
    ///
    /// - Parameters:
    ///   - bundleID: The bundle id of the app, from which the topic is made unless the request names one.
    ///   - now: The default timestamp of a Live Activity's state, or `nil` if the request must name the timestamp.
    ///   - receipts: The app's level of receipts, which applies if the request names none.
    ///   - isBroadcast: Whether the content is for a broadcast, which is sent to a channel and not to tokens.
    /// - Returns: The content, and warnings about members that are allowed, but probably a mistake.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func read(
        _ fields: JSONFields,
        bundleID: Topic,
        now: Timestamp?,
        receipts standard: ReceiptLevel = .none,
        isBroadcast: Bool = false
    ) throws(RequestError) -> (content: NotificationContent, warnings: [ContentWarning]) {
        let headers = try ContentHeaders(fields, bundleID: bundleID)
        let pushType = headers.content.pushType
        let builder = PayloadBuilder(fields: fields, pushType: pushType, now: now)
        let isWeb = headers.content.isWeb
        func names(_ locale: String?) -> FieldNames { FieldNames(isRaw: builder.isRaw, locale: locale, isWeb: isWeb) }
        var variants = [Variant(names: names(nil), payload: try builder.payload())]
        var template = PayloadTemplate(payload: variants[0].payload)
        template.badge = try builder.badgeChange()
        try variants[0].checkTextSize()
        let localizations = try LocalizationBuilder(
            fields: fields,
            pushType: pushType,
            isRaw: builder.isRaw,
            base: template.payload
        ).localizations()
        for localization in localizations {
            variants.append(Variant(names: names(localization.key), payload: localization.payload))
            template.localizations[localization.tag.name] = localization.payload
        }

        var check = TemplateValidator(hasVariables: try fields.value(Self.templateMember) ?? false)
        for variant in variants { try check.check(variant.payload, names: variant.names) }
        template.hasVariables = check.hasVariables && check.firstMark != nil

        var warnings = headers.warnings
        try Self.lint(variants, headers, hasBadge: template.badge != nil, &warnings)
        let startsActivity = variants[0].startsActivity
        if let other = variants.first(where: { $0.startsActivity != startsActivity }) {
            throw other.error("conflicting_field", "the event start goes to other tokens than update and end")
        }
        let unwritable = variants[0].error("invalid_value", "the payload cannot be written as JSON")
        guard let payload = try? template.text else { throw unwritable }
        var content = headers.content
        (content.payload, content.isTemplate) = (payload, template.isTemplate)
        content.placeholder = try EncryptionRequest.placeholder(fields, pushType)
        if content.placeholder != nil { warnings += [EncryptionRequest.warning(template.payload)].compactMap { $0 } }
        if isBroadcast {
            guard !startsActivity else {
                throw variants[0].error("invalid_value", "a broadcast updates or ends Live Activities and starts none")
            }
            // The path of a broadcast names the app, so that it has no topic of its own (reference 4.2).
            content.topic = bundleID
        } else if !isWeb {
            content.tokenKind = pushType.tokenKind(startsActivity: startsActivity)
        }
        // Neither the service worker of a page nor a pass sends receipts.
        let isSilent = headers.isWallet || isWeb
        let receipts = try ReceiptSetting(fields, pushType, isWallet: isSilent, standard: standard)
        content.receipts = try receipts.level(variants, content, &warnings)
        // The payload may be nested too deeply to be read again.
        guard let sizes = try? Self.sizes(content) else { throw unwritable }
        try Self.checkSizes(variants, localizations, sizes, content)
        Self.warnAboutVariables(headers, check, &warnings)
        return (content, warnings)
    }

    struct Variant {
        var names: FieldNames
        var payload: [String: JSONValue]

        var startsActivity: Bool {
            if case .object(let aps)? = self.payload["aps"] { aps["event"] == .string("start") } else { false }
        }

        func error(_ code: String, _ message: String) -> RequestError {
            RequestError(.invalid, code: code, message: message, path: self.names.whole)
        }
    }

    /// Checks the default payload and every localization. The warnings of a localization do not repeat the default's.
    private static func lint(
        _ variants: [Variant],
        _ headers: ContentHeaders,
        hasBadge: Bool,
        _ warnings: inout [ContentWarning]
    ) throws(RequestError) {
        var messages: Set<String> = []
        guard !headers.content.isWeb else {
            warnings += variants.compactMap { WebContent.warning($0.payload, at: $0.names.whole) }
            return
        }
        for variant in variants {
            var lint = PayloadLint(
                pushType: headers.content.pushType,
                priority: headers.content.priority,
                isWallet: headers.isWallet,
                names: variant.names
            )
            try lint.check(hasBadge ? Self.withBadge(variant.payload) : variant.payload)
            warnings += lint.warnings.filter { messages.insert($0.message).inserted || variant.names.locale == nil }
        }
    }

    /// Returns the payload with a sample badge, so that it is checked as a device would get it.
    private static func withBadge(_ payload: [String: JSONValue]) -> [String: JSONValue] {
        var payload = payload
        if case .object(var aps)? = payload["aps"] {
            aps["badge"] = .integer(1)
            payload["aps"] = .object(aps)
        }
        return payload
    }

    private static func warnAboutVariables(
        _ headers: ContentHeaders,
        _ check: TemplateValidator,
        _ warnings: inout [ContentWarning]
    ) {
        if let field = check.firstMark, !check.hasVariables {
            let message = "{{ is sent as it is: with template true it would stand for a value of the device"
            warnings.append(ContentWarning(field: field, message: message))
        }
        if headers.content.collapseID.map(TemplateText.hasMarks) ?? false {
            warnings.append(ContentWarning(field: "collapseId", message: "variables are filled in in the payload only"))
        }
        for name in check.withoutDefault.sorted() {
            let message = "devices without \(name) get nothing: write {{\(name)|something}} to give a default"
            warnings.append(ContentWarning(field: "template", message: message))
        }
    }
}

/// A warning about a member of a request that is allowed, but probably a mistake.
package struct ContentWarning: Hashable, Sendable {
    /// The member of the request, as a path such as `localizations.de.alert`.
    package var field: String
    /// The explanation of the probable mistake, for the caller.
    package var message: String

    package init(field: String, message: String) { (self.field, self.message) = (field, message) }
}
