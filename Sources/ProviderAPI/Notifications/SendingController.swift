import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `POST /v1/apps/{app}/notifications`, and its preview.
struct SendingController: Controller {
    /// The longest idempotency key, in bytes.
    private static let maximumIdempotencyKey = 200

    let store: any ProviderStore
    let acceptor: NotificationAcceptor
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let key = ParameterDescription.header(
            "idempotency-key",
            "The same request with the same key is accepted once.",
            .string(length: 1...Self.maximumIdempotencyKey, pattern: "^[!-~]+$")
        )
        let accepted = ResponseDescription(
            status: 202,
            "Accepted.",
            NotificationResponse.schema,
            headers: [
                "location": "The path of the notification.",
                "idempotency-replayed": "true if it was accepted before.",
            ]
        )
        return [
            .init(.post, "/v1/apps/{app}/notifications", .unaudited, id: "send", self.send)
                .summary("Accepts a notification: it is on disk before the response.")
                .tag(.notifications).scope(.send).parameters(key).body(.notificationRequest)
                .responses(accepted).errors(.conflict),
            .init(.post, "/v1/apps/{app}/notifications:preview", .readOnly, id: "previewNotification", self.preview)
                .summary("Renders a notification for a device and counts the recipients; sends nothing.")
                .tag(.notifications).scope(.read).cost(.query).body(.previewRequest)
                .responses(.ok(PreviewResponse.schema, "The push that would be sent.")),
        ]
    }

    /// Accepts a notification. It is on disk before the response with 202.
    private func send(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let key = try Self.idempotencyKey(request.http)
        let body = try JSONValue(parsing: try await request.body())
        // The fingerprint of the canonical text is the same for every order of the members.
        let idempotency = try key.map {
            Idempotency(key: $0, fingerprint: Array(SHA256.hash(data: try body.text)))
        }
        // This precedes all checks that depend on the time: an accepted request must not fail when it is repeated.
        if let idempotency {
            switch try await self.store.accepted(idempotency, app: app.id) {
            case .repeated(let earlier): return try self.repeated(earlier, app, body)
            case .conflict: throw Self.conflict
            case .accepted, .scheduleChanged, nil: break
            }
        }
        let wanted = try NotificationRequest(body, bundleID: app.bundleID, now: self.time.now)
        try await self.checkCredentials(app, wanted)
        let (notification, acceptance) = try await self.acceptor.accept(wanted, app: app.id, idempotency: idempotency)
        switch acceptance {
        case .accepted: return try self.accepted(notification, app, warnings: wanted.warnings)
        case .repeated(let earlier): return try self.repeated(earlier, app, body)
        case .conflict, .scheduleChanged: throw Self.conflict
        }
    }

    private static let conflict = RequestError.conflict(
        "idempotency_conflict",
        "this key was used for another request: choose a new one",
        at: "idempotency-key"
    )

    /// Returns the response to a repeated request, with the warnings of its first time.
    private func repeated(_ earlier: NotificationRecord, _ app: AppRecord, _ body: JSONValue) throws -> Response {
        let wanted = try? NotificationRequest(body, bundleID: app.bundleID, now: earlier.createdAt)
        var response = try self.accepted(earlier, app, warnings: wanted?.warnings ?? [])
        if let name = HTTPField.Name("idempotency-replayed") { response.headers[name] = "true" }
        return response
    }

    /// Returns the response to an accepted notification, with its path in a header.
    private func accepted(_ new: NotificationRecord, _ app: AppRecord, warnings: [ContentWarning]) throws -> Response {
        var response = NotificationResponse(notification: new, app: app.bundleID, now: self.time.now)
        response.warnings = warnings
        let headers: HTTPFields = [.location: "/v1/notifications/\(new.id.uuidString)"]
        return try .json(response, status: .accepted, headers: headers)
    }

    /// Renders the notification without sending it. Its recipients are counted as they are now.
    private func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(NotificationRequest.members.union(["device", "subject"]))
        let wanted = try NotificationRequest(fields, bundleID: app.bundleID, now: self.time.now)
        let (profile, badge) = try await self.subject(fields, app, wanted.content)
        let recipients =
            switch wanted.audience {
            case .tokens(let tokens): tokens.count
            case .devices(let audience):
                try await self.store.count(app: app.id, audience: audience, environment: wanted.environment)
            }
        return try .json(PreviewResponse(wanted, for: profile, badge: badge, recipients: recipients))
    }

    /// The device that a preview is rendered for, `nil` for none, and the badge count that it shows.
    private typealias Subject = (RecipientProfile?, badge: Int?)

    /// Returns the device that `device` names, or the one that `subject` describes.
    private func subject(_ fields: JSONFields, _ app: AppRecord, _ push: NotificationContent) async throws -> Subject {
        guard let text = try fields.string("device", maximum: DeviceToken.maximumLength * 4) else {
            return try Self.subject(fields)
        }
        guard fields.members["subject"] == nil else {
            throw fields.error("subject", "conflicting_field", "name a device or invent one, not both")
        }
        guard let token = DeviceToken(userInput: text) else {
            throw fields.error("device", "invalid_token", "a device token is hex or base64")
        }
        guard let device = try await self.store.devices(app: app.id, token: token).first else {
            throw fields.error("device", "no_such_device", "no device of this app has this token")
        }
        var count = 0
        if let user = device.profile.user {
            count = try await self.store.badge(app: app.id, holder: BadgeOwner.user(user))
        }
        return (try RecipientProfile(device.profile), (try? ContentRenderer(push))?.badge?.applied(to: count))
    }

    /// Returns the profile of the member `subject`, an invented device.
    private static func subject(_ fields: JSONFields) throws -> Subject {
        let known: Set = ["user", "locale", "timeZone", "appVersion", "attributes", "badge"]
        guard let fields = try fields.fields("subject", known: known) else { return (nil, nil) }
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

    /// Rejects a notification that could not be sent for want of a credential.
    private func checkCredentials(_ app: AppRecord, _ wanted: NotificationRequest) async throws {
        let environments = try await self.store.environments(app: app.id)
        var needed = wanted.environment
        if needed == nil, case .tokens = wanted.audience { needed = .production }
        guard needed.map(environments.contains) ?? !environments.isEmpty else {
            throw RequestError.missingCredential(
                needed?.rawValue ?? "any environment",
                hint: ": PUT /v1/apps/\(app.bundleID)/credentials/… first",
                at: "environment"
            )
        }
    }

    /// Returns the idempotency key of a request; `nil` without one.
    private static func idempotencyKey(_ request: Request) throws -> String? {
        guard let name = HTTPField.Name("idempotency-key"), let key = request.headers[name] else { return nil }
        guard !key.isEmpty, key.utf8.count <= Self.maximumIdempotencyKey else {
            let message = "an idempotency key has 1 to \(Self.maximumIdempotencyKey) bytes"
            throw RequestError(.invalid, code: "invalid_idempotency_key", message: message, path: "idempotency-key")
        }
        return key
    }
}
