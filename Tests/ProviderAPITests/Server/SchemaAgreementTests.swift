import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI
@testable import ProviderModel

/// The schemas of requests beside the parsers of these: both allow the same values.
@Suite(.timeLimit(.patience)) struct SchemaAgreementTests {
    private static let token = Vectors.tokenA
    private static let window = #"{"from":"09:00","to":"10:00"}"#

    private static func windows(_ count: Int) -> String {
        "[" + Array(repeating: Self.window, count: count).joined(separator: ",") + "]"
    }

    @Test(arguments: [
        #"{"to":{"all":true},"alert":"x"}"#, #"{"to":{"timeZone":"Europe/Berlin"},"alert":"x"}"#,
        #"{"to":{"token":"\#(Self.token)"},"alert":"x"}"#, #"{"to":{"token":"<\#(Self.token)>"},"alert":"x"}"#,
        #"{"to":{"tokens":["\#(Self.token)"]},"alert":"x"}"#, #"{"to":{"attribute":"a","is":"b"},"alert":"x"}"#,
        #"{"to":{"attribute":"a"},"alert":"x","name":null,"sound":null,"when":null,"badge":null}"#,
        #"{"to":{"all":true},"badge":2147483647}"#, #"{"to":{"all":true},"badge":"+0001000"}"#,
        #"{"to":{"all":true},"badge":"-1"}"#, #"{"to":{"all":true},"badge":{"increment":-1000}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":{"days":["Mon","sun"]}}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":\#(Self.windows(14))}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":\#(Self.window),"past":null,"at":null}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"localTime":"2023-11-20T09:00","past":"skip"}}"#,
        #"{"to":{"all":true},"fileProvider":{"containerIdentifier":"c","domain":null}}"#,
        #"{"to":{"all":true},"alert":{"titleLocKey":"k","titleLocArgs":["a"],"summaryArgCount":1,"body":"x"}}"#,
        #"{"to":{"all":true},"alert":"x","localizations":{"pt-BR":{"title":"x"},"de_DE.UTF-8@euro":{"sound":"s"}}}"#,
        #"{"to":{"all":true},"payload":{"aps":{"alert":"x"}},"localizations":{"de":{"payload":{"aps":{"alert":"y"}}}}}"#,
        #"{"to":{"all":true},"liveActivity":{"event":"update","contentState":{}},"alert":{"title":{"locKey":"k"},"body":"x"}}"#,
    ])
    func notificationsThatBothAllow(text: String) throws {
        #expect(SchemaCheck(NotificationRequest.object.schema).allows(try Self.json(text)))
        #expect(throws: Never.self) { try Self.notification(text) }
    }

    @Test(arguments: [
        #"{"alert":"x"}"#, #"{"to":null,"alert":"x"}"#, #"{"to":{},"alert":"x"}"#,
        #"{"to":{"timeZone":"Europe Berlin"},"alert":"x"}"#, #"{"to":{"token":"aabb"},"alert":"x"}"#,
        #"{"to":{"tokens":["\#(Self.token)"],"user":null},"alert":"x"}"#,
        #"{"to":{"tokens":null,"user":"alice"},"alert":"x"}"#, #"{"to":{"user":null},"alert":"x"}"#,
        #"{"to":{"is":"b"},"alert":"x"}"#,
        #"{"to":{"attribute":"a","is":"\#(String(repeating: "x", count: 257))"},"alert":"x"}"#,
        #"{"to":{"all":true},"badge":-1}"#, #"{"to":{"all":true},"badge":2147483648}"#,
        #"{"to":{"all":true},"badge":"+1001"}"#, #"{"to":{"all":true},"badge":"1"}"#,
        #"{"to":{"all":true},"badge":"+"}"#, #"{"to":{"all":true},"alert":"x","when":{}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"at":null}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":{}}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":{"from":"09:00"}}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":{"to":"09:00","days":["mon"]}}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":{"days":["xyz"]}}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"window":\#(Self.windows(15))}}"#,
        #"{"to":{"all":true},"alert":"x","when":{"at":"2023-11-20T09:00:00Z","past":"skip"}}"#,
        #"{"to":{"all":true},"alert":{}}"#, #"{"to":{"all":true},"alert":{"title":1}}"#,
        #"{"to":{"all":true},"alert":{"titel":"x"}}"#, #"{"to":{"all":true},"alert":{"body":"x","summaryArgCount":0}}"#,
        #"{"to":{"all":true},"alert":"x","localizations":{"d":{}}}"#,
        #"{"to":{"all":true},"alert":"x","localizations":{"de-":{}}}"#,
        #"{"to":{"all":true},"alert":"x","localizations":{"de":{"titel":"x"}}}"#,
        #"{"to":{"all":true},"alert":"x","localizations":{"de":null}}"#,
        #"{"to":{"all":true},"liveActivity":{"event":"begin","contentState":{}}}"#,
        #"{"to":{"all":true},"alert":"x","pace":{"waves":{"size":1,"intervalSeconds":9,"steering":{}}}}"#,
        #"{"to":{"all":true},"fileProvider":{"domain":"d"}}"#, #"{"to":{"all":true},"alert":"x","pace":{}}"#,
        #"{"to":{"all":true},"alert":"x","topic":"a b"}"#, #"{"to":{"all":true},"web":{}}"#,
    ])
    func notificationsThatBothForbid(text: String) throws {
        #expect(!SchemaCheck(NotificationRequest.object.schema).allows(try Self.json(text)))
        #expect(throws: RequestError.self) { try Self.notification(text) }
    }

    @Test(arguments: [
        (#"{"token":"\#(Self.token)"}"#, true),
        (#"{"token":"\#(Self.token)","kind":null,"user":null,"tags":null}"#, true),
        (#"{"token":"\#(Self.token)","kind":"liveActivityUpdate","activity":"a"}"#, true),
        (#"{"token":"\#(Self.token)","attributes":{"a":null,"b":true},"preferences":null}"#, true),
        (#"{"token":"\#(Self.token)","kind":"liveActivityUpdate"}"#, false),
        (#"{"token":"\#(Self.token)","kind":"liveActivityUpdate","activity":null}"#, false),
        (#"{"token":"\#(Self.token)","kind":"web"}"#, false),
        (#"{"token":null}"#, false), (#"{}"#, false),
        (#"{"token":"\#(Self.token)","timeZone":"Europe Berlin"}"#, false),
        (#"{"token":"\#(Self.token)","attributes":{"a":[1]}}"#, false),
        (#"{"token":"\#(Self.token)","attributes":{"a":"\#(String(repeating: "x", count: 257))"}}"#, false),
        (#"{"token":"\#(Self.token)","tags":[null]}"#, false),
    ])
    func devices(text: String, isAllowed: Bool) throws {
        #expect(SchemaCheck(DeviceRequest.object.schema).allows(try Self.json(text)) == isAllowed)
        #expect(((try? DeviceRequest.parse(Data(text.utf8))) != nil) == isAllowed)
    }

    private static let key = #""teamId":"DEF123GHIJ","keyId":"ABC123DEFG","privateKey":"x""#

    @Test(arguments: [
        ("{\(Self.key)}", true), (#"{"certificate":"x","passphrase":null,"transport":null}"#, true),
        (#"{"p12":"eHh4","transport":"binary"}"#, true), ("{}", false), (#"{\#(Self.key),"passphrase":null}"#, false),
        (#"{\#(Self.key),"transport":null}"#, false), (#"{\#(Self.key),"certificate":null}"#, false),
        (#"{\#(Self.key),"certificate":"x"}"#, false), (#"{"p12":null,"certificate":"x"}"#, false),
    ])
    func credentials(text: String, isAllowed: Bool) throws {
        #expect(SchemaCheck(CredentialRequest.object.schema).allows(try Self.json(text)) == isAllowed)
        let fields = try JSONFields(parsing: Data(text.utf8), known: CredentialRequest.object.known)
        #expect(((try? CredentialRequest.record(fields)) != nil) == isAllowed)
    }

    /// The objects of requests whose members are listed.
    private static let objects: [(name: String, members: [any RequestMemberProtocol])] = [
        ("notification", NotificationRequest.object.members), ("resend", ResendRequest.object.members),
        ("preview", PreviewRequest.notification.members), ("broadcast", BroadcastRequest.object.members),
        ("alert", AlertBuilder.object.members), ("localized text", AlertBuilder.Localized.object.members),
        ("sound", AlertBuilder.Sound.object.members), ("template", TemplateReference.object.members),
        ("audience", AudienceExpression.object.members), ("schedule", ScheduleRequest.object.members),
        ("device", DeviceRequest.object.members), ("installation", InstallationRequest.object.members),
        ("preferences", Preferences.object.members), ("badge", BadgeRequest.object.members),
        ("audience preview", AudienceRequest.preview.members),
        ("new webhook", WebhookRequest.addition.members), ("webhook", WebhookRequest.change.members),
        ("replay", WebhookRequest.replay.members), ("new app", AppRequest.addition.members),
        ("app", AppRequest.change.members), ("stop", AppRequest.stop.members),
        ("credential", CredentialRequest.object.members), ("new key", APIKeyRequest.addition.members),
        ("key", APIKeyRequest.change.members), ("new person", PersonRequest.addition.members),
        ("person", PersonRequest.change.members), ("password", AccountRequest.passwordChange.members),
        ("channel", ChannelRequest.addition.members), ("receipts", ReceiptRequest.object.members),
        ("receipt", ReceiptRequest.receipt.members), ("reactivation", ReactivationRequest.object.members),
        ("VAPID key", VAPIDKeyRequest.set.members), ("new issue", IssueRequest.addition.members),
        ("issue", IssueRequest.change.members), ("file", IssueRequest.fileChoice.members),
        ("notify", IssueRequest.notify.members),
        ("new publication", PublicationRequest.addition.members),
        ("publication", PublicationRequest.change.members),
        ("entitlements", EntitlementProof.entitlements.members),
        ("download", EntitlementProof.download.members),
        ("entitlement server", EntitlementServerRequest.object.members),
        ("entitlement test", EntitlementTestRequest.object.members),
        ("restore", LibraryItemRequest.restore.members), ("new template", TemplateRequest.objects.new.members),
        ("saved template", TemplateRequest.objects.saved.members),
        ("template preview", PreviewRequest.template.members),
        ("new audience", AudienceRequest.named.new.members),
    ]

    @Test(arguments: Self.objects.indices) func theMembersHaveTheBoundsOfTheirSchemas(index: Int) throws {
        let (name, members) = Self.objects[index]
        #expect(try MemberBounds.differences(of: members, in: name) == [])
    }

    /// A pattern of the document, and what reads the same texts.
    struct Form: Sendable {
        let name: String
        let schema: Schema
        let read: @Sendable (String) -> Bool
        let good, bad: [String]
    }

    static let forms = [
        Form(
            name: "screen size",
            schema: .screenSize,
            read: { ScreenSize($0) != nil },
            good: ["2048x1536", "1x1", "99999x1"],
            bad: ["0x41", "041x5", "100000x1", "x", "1x", "1x2x3", " 1x2", "1x2\n"]
        ),
        Form(
            name: "locale",
            schema: .locale,
            read: { LocaleTag.isName($0) },
            good: ["de", "pt-BR", "zh_Hant_TW", "de_DE.UTF-8@euro", "yue"],
            bad: ["", "d", "de-", "deut", "de--AT", "de-123456789", "de.UTF 8", "de\n"]
        ),
        Form(
            name: "locale of a localization",
            schema: .string(length: 2...LocaleTag.maximumLength, pattern: LocaleTag.pattern),
            read: { LocaleTag($0) != nil },
            good: ["de", "pt-BR", "de.", "de@ü \n"],
            bad: ["", "d", "de-", "deut", "de--AT", "de-123456789", "de\n"]
        ),
        Form(
            name: "time zone",
            schema: .timeZone,
            read: { TimeZone(named: $0) != nil },
            good: ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"],
            bad: ["", "Europe Berlin", "CET\0", "Zürich", "UTC\n"]
        ),
        Form(
            name: "RFC 3339",
            schema: .rfc3339,
            read: { Timestamp(rfc3339: $0) != nil },
            good: [
                "2026-11-25T09:30Z", "2026-11-25t09:30Z", "2026-11-25T09:30:00.5+01:00",
                "2026-11-25T09:30:59.123456789-23:59",
            ],
            bad: [
                "2026-13-25T09:30Z", "2026-11-25T24:00Z", "2026-11-25T09:30",
                "2026-11-25T09:30:60Z", "2026-11-25T09:30.5Z",
            ]
        ),
        Form(
            name: "time on a clock",
            schema: .clockTime,
            read: { LocalTime($0) != nil },
            good: ["09:30", "00:00", "23:59:59"],
            bad: ["24:00", "9:30", "09:60", "09:30:60", "09:30:", "09:30\n"]
        ),
        Form(
            name: "local time",
            schema: .localTime,
            read: { (LocalDateTime($0)?.date.year ?? 0) >= 1970 },
            good: ["2026-11-25T09:30", "1970-01-01T00:00:00", "9999-12-31T23:59:59"],
            bad: ["1969-12-31T23:59", "2026-13-01T00:00", "2026-11-25T24:00", "2026-11-25 09:30", "2026-11-25T09:30Z"]
        ),
        Form(
            name: "bundle id",
            schema: .bundleID,
            read: { Topic($0) != nil },
            good: ["com.example.MyApp", "a", "A-b_c.9"],
            bad: ["", "com example", "com.exämple", "a\n"]
        ),
        Form(
            name: "channel",
            schema: .channelID,
            read: { ChannelID($0) != nil },
            good: ["dHN0LXNyY2gtY2hubA==", "a-_"],
            bad: ["", "a b", "a\n", String(repeating: "a", count: 257)]
        ),
        Form(
            name: "duration",
            schema: DurationText.schema,
            read: { DurationText.seconds($0) != nil },
            good: ["90s", "6h", "0d"],
            bad: ["", "h", "6", "6 h", "-6h", "6w", "6h\n"]
        ),
        Form(
            name: "collapse id",
            schema: .string(length: 1...64, pattern: Schema.headerValuePattern),
            read: { !$0.isEmpty && PushNotification.isHeaderValue($0) },
            good: ["a", "a b", "é", "\u{a0}", "🪺 nest"],
            bad: ["", " ", " a", "a ", "a\nb", "a\n", "\u{7f}", "a\tb", "\u{1}"]
        ),
    ]

    @Test(arguments: Self.forms.indices) func aPatternAllowsWhatIsRead(index: Int) throws {
        let form = Self.forms[index]
        for (texts, isAllowed) in [(form.good, true), (form.bad, false)] {
            for text in texts {
                #expect(
                    SchemaCheck(form.schema).allows(.string(text)) == isAllowed,
                    "\(form.name) \(text.debugDescription)"
                )
                #expect(form.read(text) == isAllowed, "\(form.name) \(text.debugDescription) is read otherwise")
            }
        }
    }

    @Test func aBodyThatIsNotNeededMayBeMissing() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let pause = try await provider.api.get("/openapi.json").json["paths"]["/v1/apps/{app}:pause"]["post"]
            #expect(pause["requestBody"]["required"] == false)
            for body: JSONValue? in [nil, [:], ["reason": .null], ["reason": "too loud"]] {
                let content = try body.map { try $0.text }
                let answer = try await provider.api.call("POST", "/v1/apps/\(Vectors.bundleID):pause", content)
                #expect(answer.status == 200)
            }
        }
    }

    private static func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

    private static func notification(_ text: String) throws -> NotificationRequest {
        let bundleID = try #require(Topic(Vectors.bundleID))
        return try NotificationRequest(parsing: Data(text.utf8), bundleID: bundleID, now: Vectors.issuedAt)
    }
}
