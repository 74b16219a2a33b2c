import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The body of a request to send; docs/content.md explains the members of the content.
extension Schema {
    static let notificationRequest = Schema.notification(with: []).named("NotificationRequest")

    static let previewRequest = Schema.notification(with: PreviewSubjects.schemas).named("PreviewRequest")

    /// The template of a notification, or the statement that its own content has variables.
    private static let template = Schema.any(of: [
        .bool,
        Schema.object(optional: [
            "id": .uuid, "name": .string(length: 1...LibraryText.maximumName),
            "version": Schema.integer(1...Int64.max).described("Default the newest."),
            "variables": .map(of: .variable).described("Values of the template's variables for all recipients."),
        ]).requiringOne(of: "id", "name"),
    ])
    .described("true: the content has variables. An object: the content is that of a template, but for own members.")

    static let expiration = Schema.any(of: [.integer(0...0), .integer(1_000_000_001...4_102_444_800), .rfc3339])
        .described("RFC 3339 or UNIX seconds; 0 for one attempt without storage.")

    static let expiresIn = Schema.any(of: [
        .integer(1...2_592_000), .string(length: 2...12, pattern: Self.durationPattern),
    ])
    .described("From each recipient's start: seconds, or a text such as 6h.")

    /// A text that devices show, of which the size of the payload is the narrower limit.
    private static let shown = Schema.string(length: 1...AlertBuilder.maximumText)

    private static let arguments = Schema.array(of: .shown, count: 0...AlertBuilder.maximumArguments)

    /// The texts of an alert; the objects are for Live Activities.
    private static let alertTexts = AlertBuilder.texts.map { name in
        (
            key: name,
            value: Schema.any(of: [
                .shown, .object(required: ["locKey": .shown], optional: ["locArgs": Self.arguments]),
            ])
        )
    }

    private static let alert: Schema = {
        var members = Self.alertTexts
        members += AlertBuilder.stringMembers.map { ($0, .shown) }
        members += AlertBuilder.argumentMembers.map { ($0, Self.arguments) }
        members.append((AlertBuilder.countMember, .integer(AlertBuilder.counts)))
        return .any(of: [.shown, Schema.object(required: [], optional: members).withMembers])
    }()

    private static let sound = Schema.any(of: [
        .string(length: 1...256),
        .object(optional: ["critical": .bool, "name": .string(length: 1...256), "volume": .number(from: 0, to: 1)]),
    ])

    /// The content of one locale, as far as it differs.
    private static let localization: Schema = {
        let open = Schema.object(isOpen: true)
        let more: [(key: String, value: Schema)] = [
            ("alert", Self.alert), ("sound", Self.sound), ("data", open), ("payload", open), ("web", open),
        ]
        return .object(required: [], optional: Self.alertTexts + more)
    }()

    /// The pattern of ``PushNotification/isHeaderValue(_:)``.
    static let headerValuePattern =
        #"^[^\u0000-\u0020\u007F]([^\u0000-\u001F\u007F]*[^\u0000-\u0020\u007F])?$"#

    private static let localeName = Schema.string(length: 2...LocaleTag.maximumLength, pattern: LocaleTag.pattern)

    static let liveActivity: Schema = {
        let (open, time, text) = (
            Schema.object(isOpen: true), Schema.integer(0...Int64.max), Schema.string(length: 1...256)
        )
        return .object(
            required: ["event": .choice(["start", "update", "end"])],
            optional: [
                "timestamp": time, "staleDate": time, "dismissalDate": time, "contentState": open, "attributes": open,
                "attributesType": text, "inputPushChannel": text, "inputPushToken": .bool,
            ]
        )
    }()

    private static let to: Schema = {
        let tokens = Schema.object(required: [
            "tokens": .array(of: .writtenToken, count: 1...NotificationRequest.maximumTokens)
        ])
        return .any(of: [tokens, .audience])
    }()

    /// Returns the schema of a notification, with further members for a preview.
    private static func notification(with more: [(key: String, value: Schema)]) -> Schema {
        let open = Schema.object(isOpen: true)
        let text = Schema.string(length: 1...PayloadBuilder.maximumText)
        var members: [(key: String, value: Schema)] = [
            ("name", .string(length: 1...NotificationRequest.maximumName)), ("environment", .environment),
            ("guarantee", .choice(of: NotificationRecord.Guarantee.self)),
            ("urgent", .bool), ("when", .deliveryTime), ("pace", .pace),
            ("pushType", .choice(of: PushType.self)), ("topic", .bundleID),
            ("priority", .integer(of: [10, 5, 1])),
            ("expiration", .expiration), ("expiresIn", .expiresIn),
            (
                "collapseId",
                .string(length: 1...PushNotification.maximumCollapseIDLength, pattern: Self.headerValuePattern)
            ), ("alert", Self.alert),
            (
                "badge",
                .any(of: [
                    .integer(0...Int64(Int32.max)), .string(pattern: "^[+-]0*(1000|[0-9]{1,3})$"),
                    .object(required: ["increment": .integer(BadgeChange.range)]),
                ])
            ), ("sound", Self.sound), ("threadId", text), ("category", text),
            ("contentAvailable", .bool), ("mutableContent", .bool), ("targetContentId", text),
            ("interruptionLevel", .choice(of: InterruptionLevel.self)),
            ("relevanceScore", .number), ("filterCriteria", text), ("data", open), ("liveActivity", Self.liveActivity),
            ("mdm", .object(required: ["pushMagic": .shown])), ("wallet", .bool), ("contentChanged", .bool),
            (
                "fileProvider", .object(required: ["containerIdentifier": text], optional: ["domain": text])
            ), ("pushToTalk", .object(optional: ["serviceUpdate": .bool])), ("payload", open),
            (
                "web",
                open.withMembers.described("The whole content for browsers, which their service worker gets as it is.")
            ),
            ("localizations", .map(of: Self.localization, names: .localeName)),
            ("template", Self.template), ("consentCategory", .string(length: 1...Preferences.maximumCategory)),
            (
                "quietHours",
                .choice(["skip", "ignore"]).described("Default skip, for an urgent notification ignore.")
            ), ("encrypted", Schema.bool.described("Encrypts the content to the key of each installation.")),
            (
                "placeholder",
                .object(optional: ["title": .string(length: 1...256), "body": .string(length: 1...256)])
                    .described("The alert that Apple sees of encrypted content.")
            ),
            (
                "receipts",
                .choice(ReceiptPrivacy.allCases.map(\.word))
                    .described("The receipt level that apps may report at most. Default the app's.")
            ),
        ]
        members += more
        return .object(required: [(key: "to", value: Self.to)], optional: members)
            .example(.object(["to": .texts(["user": "alice"]), "alert": .texts(["title": "Hello", "body": "World"])]))
    }
}
