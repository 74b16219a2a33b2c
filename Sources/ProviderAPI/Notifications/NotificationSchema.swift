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
        .object(optional: [
            "id": .uuid, "name": .string(length: 1...LibraryText.maximumName),
            "version": Schema.integer(1...Int64.max).described("Default the newest."),
            "variables": .map(of: .attribute).described("Values of the template's variables for all recipients."),
        ]),
    ])
    .described("true: the content has variables. An object: the content is that of a template, but for own members.")

    static let expiration = Schema.any(of: [.integer(0...4_102_444_800), .string(length: 1...40)])
        .described("RFC 3339 or UNIX seconds; 0 for one attempt without storage.")

    static let expiresIn = Schema.any(of: [
        .integer(1...2_592_000), .string(length: 2...12, pattern: "^[0-9]+[smhd]$"),
    ])
    .described("From each recipient's start: seconds, or a text such as 6h.")

    private static let alert = Schema.any(of: [
        .string(), .object(optional: ["title": .any, "subtitle": .string(), "body": .any], isOpen: true),
    ])

    private static let to: Schema = {
        let tokens = Schema.object(required: [
            "tokens": .array(of: .string(length: 2...2048), count: 1...NotificationRequest.maximumTokens)
        ])
        return .any(of: [tokens, .audience])
    }()

    /// Returns the schema of a notification, with further members for a preview.
    private static func notification(with more: [(key: String, value: Schema)]) -> Schema {
        let open = Schema.object(isOpen: true)
        let text = Schema.string(length: 1...4096)
        var members: [(key: String, value: Schema)] = [
            ("name", .string(length: 1...NotificationRequest.maximumName)), ("environment", .environment),
            ("guarantee", .choice(of: NotificationRecord.Guarantee.self)),
            ("urgent", .bool), ("when", .deliveryTime), ("pace", .pace),
            ("pushType", .choice(of: PushType.self)), ("topic", .string(length: 1...255)),
            ("priority", .integer(1...10)),
            ("expiration", .expiration), ("expiresIn", .expiresIn),
            ("collapseId", .string(length: 1...64)), ("alert", Self.alert),
            (
                "badge",
                .any(of: [
                    .integer(), .string(pattern: "^[+-][0-9]+$"),
                    .object(required: ["increment": .integer(-1000...1000)]),
                ])
            ), ("sound", .any(of: [.string(), open])), ("threadId", text), ("category", text),
            ("contentAvailable", .bool), ("mutableContent", .bool), ("targetContentId", text),
            ("interruptionLevel", .choice(of: InterruptionLevel.self)),
            ("relevanceScore", .number), ("filterCriteria", text), ("data", open), ("liveActivity", open),
            ("mdm", .object(required: ["pushMagic": text])), ("wallet", .bool), ("contentChanged", .bool),
            ("fileProvider", open), ("pushToTalk", open), ("payload", open),
            ("web", open.described("The whole content for browsers, which their service worker gets as it is.")),
            ("localizations", .map(of: open)),
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
