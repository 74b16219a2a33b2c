import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `POST /v1/apps/{app}/notifications`, and the same as a rehearsal.
struct SendingController: Controller {
    private static let longestIdempotencyKey = 200

    let store: any ProviderStore
    let intake: NotificationAcceptor
    let time: any TimeSource

    var operations: [APIOperation] {
        let key = ParameterDescription(
            name: "idempotency-key",
            place: .header,
            summary: "The same request with the same key is accepted once.",
            schema: .string(length: 1...Self.longestIdempotencyKey, pattern: "^[!-~]+$")
        )
        return [
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/notifications",
                id: "send",
                summary: "Accepts a notification: it is on disk when the answer comes.",
                tag: .notifications,
                scope: .send,
                parameters: [key],
                body: BodyDescription(schema: .notificationRequest),
                answers: [
                    ResponseDescription(
                        status: 202,
                        summary: "Accepted.",
                        schema: NotificationResponse.schema,
                        headers: [
                            "location": "Where its progress is.",
                            "idempotency-replayed": "true if it had been accepted before.",
                        ]
                    )
                ],
                refusals: [409],
                handler: self.send
            ),
            APIOperation(
                method: .post,
                path: "/v1/apps/{app}/notifications:preview",
                id: "previewNotification",
                summary: "Shows what a device would get, and how many would; sends nothing.",
                tag: .notifications,
                scope: .read,
                body: BodyDescription(schema: .previewRequest),
                answers: [.ok(PreviewResponse.schema, "What would be sent.")],
                cost: .question,
                handler: self.preview
            ),
        ]
    }

    private func send(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let key = try Self.idempotencyKey(call.request)
        let body = try JSONValue(parsing: try await call.body())
        // Over the canonical text: the same request may have its members in another order.
        let idempotency = try key.map {
            Idempotency(key: $0, fingerprint: Array(SHA256.hash(data: try body.text)))
        }
        // Before anything that depends on now: a request that was accepted must not be refused when it is repeated.
        if let idempotency {
            switch try await self.store.accepted(idempotency, app: app.id) {
            case .repeated(let earlier): return try self.repeated(earlier, app, body)
            case .conflict: throw Self.conflict
            case .accepted, .scheduleChanged, nil: break
            }
        }
        let wanted = try NotificationRequest(body, bundleID: app.bundleID, now: self.time.now)
        try await self.checkCredentials(app, wanted)
        let (notification, acceptance) = try await self.intake.accept(wanted, app: app.id, idempotency: idempotency)
        switch acceptance {
        case .accepted: return try self.accepted(notification, app, wanted.warnings, isRepeated: false)
        case .repeated(let earlier): return try self.repeated(earlier, app, body)
        case .conflict, .scheduleChanged: throw Self.conflict
        }
    }

    private static let conflict = RequestError(
        .conflict,
        code: "idempotency_conflict",
        message: "this key was used for another request: choose a new one",
        path: "idempotency-key"
    )

    /// With the warnings of the request as it was read when it was accepted.
    private func repeated(_ earlier: NotificationRecord, _ app: AppRecord, _ body: JSONValue) throws -> Response {
        let wanted = try? NotificationRequest(body, bundleID: app.bundleID, now: earlier.createdAt)
        return try self.accepted(earlier, app, wanted?.warnings ?? [], isRepeated: true)
    }

    private func accepted(
        _ notification: NotificationRecord,
        _ app: AppRecord,
        _ warnings: [ContentWarning],
        isRepeated: Bool
    ) throws -> Response {
        var headers: HTTPFields = [.location: "/v1/notifications/\(notification.id.uuidString)"]
        if isRepeated, let name = HTTPField.Name("idempotency-replayed") { headers[name] = "true" }
        var answer = NotificationResponse(notification, app: app.bundleID, now: self.time.now)
        answer.warnings = warnings.map(NotificationResponse.Warning.init)
        return try JSONResponse.make(.accepted, answer, headers: headers)
    }

    private func preview(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let fields = try await call.fields(NotificationRequest.members.union(["device", "subject"]))
        let wanted = try NotificationRequest(fields, bundleID: app.bundleID, now: self.time.now)
        let (profile, badge) = try await self.subject(fields, app: app)
        var recipients = 0
        switch wanted.audience {
        case .tokens(let tokens): recipients = tokens.count
        case .devices(let audience):
            recipients = try await self.store.count(app: app.id, audience: audience, environment: wanted.environment)
        }
        return try JSONResponse.make(.ok, PreviewResponse(wanted, for: profile, badge: badge, recipients: recipients))
    }

    /// The profile and the badge count that the preview is rendered for; a profile of `nil` for none.
    private func subject(_ fields: JSONFields, app: AppRecord) async throws -> (RecipientProfile?, badge: Int?) {
        let known: Set = ["user", "locale", "timeZone", "appVersion", "attributes", "badge"]
        guard let text = try fields.string("device", maximum: DeviceToken.maximumLength * 4) else {
            guard let fields = try fields.fields("subject", known: known) else { return (nil, nil) }
            return try Self.subject(fields)
        }
        guard fields.members["subject"] == nil else {
            throw fields.refusal("subject", "conflicting_field", "name a device or make one up, not both")
        }
        guard let token = DeviceToken(userInput: text) else {
            throw fields.refusal("device", "invalid_token", "a device token is hex or base64")
        }
        guard let device = try await self.store.devices(app: app.id, token: token).first else {
            throw fields.refusal("device", "no_such_device", "no device of this app has this token")
        }
        let profile = device.profile
        var count = 0
        if let user = profile.user {
            count = try await self.store.badge(app: app.id, holder: BadgeOwner.user(user))
        }
        return (try RecipientProfile(profile), try BadgeStep(fields)?.applied(to: count))
    }

    private static func subject(_ fields: JSONFields) throws -> (RecipientProfile?, badge: Int?) {
        let longest = DeviceRequest.maximumText
        let profile = RecipientProfile(
            user: try fields.string("user", maximum: longest),
            locale: try fields.string("locale", maximum: longest),
            timeZone: try fields.string("timeZone", maximum: longest),
            appVersion: try fields.string("appVersion", maximum: longest),
            attributes: try fields.object("attributes").map { try JSONValue.object($0).text }
        )
        return (profile, try fields.integer("badge", in: 0...Int64(BadgeChange.maximumCount)).map(Int.init))
    }

    /// Without a credential nothing could ever be sent: better said now.
    private func checkCredentials(_ app: AppRecord, _ wanted: NotificationRequest) async throws {
        let there = try await self.store.environments(app: app.id)
        let needed: PushEnvironment?
        switch (wanted.environment, wanted.audience) {
        case (let environment?, _): needed = environment
        case (nil, .tokens): needed = .production
        case (nil, _): needed = nil
        }
        guard needed.map(there.contains) ?? !there.isEmpty else {
            let environment = needed?.rawValue ?? "any environment"
            throw RequestError(
                .conflict,
                code: "missing_credential",
                message:
                    "the app has no credential for \(environment): PUT /v1/apps/\(app.bundleID)/credentials/… first",
                path: "environment"
            )
        }
    }

    private static func idempotencyKey(_ request: Request) throws -> String? {
        guard let name = HTTPField.Name("idempotency-key"), let key = request.headers[name] else { return nil }
        guard !key.isEmpty, key.utf8.count <= Self.longestIdempotencyKey else {
            throw RequestError(
                .invalid,
                code: "invalid_idempotency_key",
                message: "an idempotency key has 1 to \(Self.longestIdempotencyKey) bytes",
                path: "idempotency-key"
            )
        }
        return key
    }
}

/// What a request's badge adds to the count, for a preview.
private struct BadgeStep {
    let change: BadgeChange

    init?(_ fields: JSONFields) throws {
        switch fields.members["badge"] {
        case .string(let text):
            guard let change = Int64(text).flatMap(BadgeChange.init(increment:)) else { return nil }
            self.change = change
        case .object(let members):
            guard case .integer(let step)? = members["increment"], let change = BadgeChange(increment: step) else {
                return nil
            }
            self.change = change
        default: return nil
        }
    }

    func applied(to count: Int) -> Int { self.change.applied(to: count) }
}

/// What one device would get.
struct PreviewResponse: Encodable {
    /// Recipients as of now.
    var recipients: Int
    var topic: String
    var pushType: String
    /// Absent if nothing could be sent to this device: ``problem`` says why.
    var payload: JSONValue?
    /// Of the payload, and its limit; in bytes.
    var size: Int?
    var limit: Int
    /// The localisation that the device gets; absent for the default.
    var locale: String?
    var problem: String?
    var warnings: [NotificationResponse.Warning]

    init(_ wanted: NotificationRequest, for profile: RecipientProfile?, badge: Int?, recipients: Int) {
        let content = wanted.content
        self.recipients = recipients
        self.topic = content.topic.name
        self.pushType = content.pushType.rawValue
        self.limit = content.pushType.maximumPayloadSize
        self.warnings = wanted.warnings.map(NotificationResponse.Warning.init)
        do {
            let preview = try ContentPreview(content, for: profile, badge: badge)
            self.payload = try? JSONValue(parsing: Data(preview.payload))
            self.size = preview.payload.count
            self.locale = preview.locale
        } catch {
            self.problem = error.description
        }
    }

    static let schema = Schema.object(
        required: [
            "recipients": .integer(), "topic": .string(), "pushType": .string(),
            "limit": .integer().described("Largest payload of the push type, in bytes."),
            "warnings": .array(of: NotificationResponse.Warning.schema),
        ],
        optional: [
            "payload": .object(isOpen: true), "size": .integer(), "locale": .string(),
            "problem": .string().described("Why nothing could be sent to this device."),
        ]
    ).named("Preview")
}
