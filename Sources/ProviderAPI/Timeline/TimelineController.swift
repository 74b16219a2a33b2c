import Foundation
import Hummingbird
import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operation `/v1/timeline`, which returns the events of a delivery, a notification, a token or a user in order.
struct TimelineController: Controller {
    /// The default and the maximum number of deliveries per page.
    private static let limits = (standard: 5, most: 20)
    /// The maximum number of devices of one user whose deliveries are searched. Those of further devices are omitted.
    private static let maximumDevices = 50
    /// The maximum number of times that a response looks up a device in a campaign (a bulk notification). The next page
    /// reaches further back.
    private static let maximumLookups = 5000

    typealias Store = AppStore & DeviceStore & NotificationStore & ReceiptStore & TimelineStore

    private let store: any Store
    private let reader: TimelineReader

    init(store: any Store, gateway: GatewayEventClient?, faults: ConfigurationFaultTracker, time: any TimeSource) {
        self.store = store
        self.reader = TimelineReader(store: store, gateway: gateway, faults: faults, time: time)
    }

    var operations: [ProviderOperation] {
        let most = Int64(Self.limits.most)
        return [
            .init(.get, "/v1/timeline", id: "timeline", self.show)
                .summary("What happened with a push, a notification, a token or a user, in order and with durations.")
                .tag(.notifications).scope(.read).cost(.query).filteredByApp()
                .parameters(
                    .query("apnsId", "Of the push with this apns-id.", .uuid),
                    .query("notification", "Of this notification: its own steps.", .uuid),
                    .query("token", "Of the newest deliveries to this device token; needs app.", .deviceToken),
                    .query("user", "Of the newest deliveries to this user; needs app.", .string(length: 1...256)),
                    .query("app", "The app of the token or of the user.", .bundleID),
                    .query("limit", "The deliveries of a page, 5 without it.", .integer(1...most)),
                    .cursor
                )
                .responses(.ok(.page("timelines", of: TimelineResponse.schema))).errors(.notFound)
        ]
    }

    /// The subject of a timeline, which the request's query determines: a push, a notification, a token or a user.
    private enum Subject {
        case push(String)
        case notification(String)
        case token(DeviceToken)
        case user(String)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        switch try Self.subject(request) {
        case .push(let text): return try await self.push(text, request)
        case .notification(let text):
            let id = UUID(uuidString: text)
            guard let id, let notification = try await self.visible(try await self.store.notification(id), request),
                let timeline = try await self.reader.timeline(of: notification)
            else { throw RequestError.noSuch("notification", by: "id", at: "notification") }
            return try .page("timelines", [TimelineResponse(timeline: timeline)])
        case .token(let token):
            let app = try await self.app(request)
            let devices = try await self.store.devices(app: app.id, token: token)
            let periods = devices.map { UserPeriod(device: $0.id) }
            return try await self.deliveries(of: devices, periods, tokens: [token: nil], app, request)
        case .user(let user):
            let app = try await self.app(request)
            let devices = try await self.store.devices(
                app: app.id,
                audience: .user(user),
                after: 0,
                limit: Self.maximumDevices
            )
            let periods = try await self.store.periods(app: app.id, user: user, limit: Self.maximumDevices)
            let tokens = UserPeriod.tokens(of: devices, periods)
            return try await self.deliveries(of: devices, periods, tokens: tokens, app, request)
        }
    }

    // MARK: The subject

    /// Returns the subject that the query determines.
    /// - Throws: ``RequestError`` unless the query names exactly one subject and, for a token or user, the app.
    private static func subject(_ request: OperationRequest) throws -> Subject {
        let names = ["apnsId", "notification", "token", "user"].filter { request.query[$0] != nil }
        guard let name = names.first, names.count == 1, let text = request.query[name] else {
            let message = "name one of apnsId, notification, token (with app) and user (with app)"
            throw RequestError(.invalid, code: "invalid_value", message: message, path: names.last ?? "apnsId")
        }
        let needsApp = name == "token" || name == "user"
        if needsApp, request.query["app"] == nil {
            throw RequestError(.invalid, code: "missing_field", message: "a \(name) needs its app", path: "app")
        }
        for item in ["app", "limit", "cursor"] where !needsApp && request.query[item] != nil {
            let message = "this belongs to token and user only: leave it out"
            throw RequestError(.invalid, code: "conflicting_field", message: message, path: item)
        }
        switch name {
        case "apnsId": return .push(text)
        case "notification": return .notification(text)
        case "token":
            guard let token = DeviceToken(hex: text) else { throw RequestError.invalidToken }
            return .token(token)
        default:
            guard (1...Member.maximumText).contains(text.utf8.count) else {
                throw RequestError.invalid("user", "a user id has 1 to \(Member.maximumText) bytes")
            }
            return .user(text)
        }
    }

    /// Returns the app that the query names.
    /// - Throws: ``RequestError`` if the caller may not use the app, whether it exists or not.
    private func app(_ request: OperationRequest) async throws -> AppRecord {
        let text = request.query["app"] ?? ""
        guard let bundleID = Topic(text) else { throw RequestError.noSuch("app", by: "bundle id", at: "app") }
        guard request.caller?.mayUse(bundleID) ?? true else {
            let message = "this API key is for other apps"
            throw RequestError(.forbidden, code: "other_app", message: message, path: "app")
        }
        guard let app = try await self.store.app(bundleID: bundleID) else {
            throw RequestError.noSuch("app", by: "bundle id", at: "app")
        }
        return app
    }

    /// Returns the notification if the caller may use its app. Otherwise, and for `nil`, returns `nil`.
    private func visible(
        _ notification: NotificationRecord?,
        _ request: OperationRequest
    ) async throws -> NotificationRecord? {
        guard let notification, request.caller?.apps != nil else { return notification }
        guard let app = try await self.store.app(id: notification.app) else { return nil }
        return request.caller?.mayUse(app.bundleID) == true ? notification : nil
    }

    // MARK: Deliveries

    private func push(_ text: String, _ request: OperationRequest) async throws -> Response {
        guard let id = DeliveryID.parse(text),
            let notification = try await self.visible(try await self.store.notification(id.notification), request),
            let timeline = try await self.timeline(of: notification, recipient: id.recipient)
        else { throw RequestError.noSuch("delivery", by: "apns-id", at: "apnsId") }
        return try .page("timelines", [TimelineResponse(timeline: timeline)])
    }

    private func timeline(of notification: NotificationRecord, recipient: Int64) async throws -> Timeline? {
        let recipient = RecipientKey(notification: notification.id, recipient: recipient)
        return try await self.reader.timelines(of: [recipient]).first
    }

    /// Responds with timelines of the newest deliveries to devices and tokens. Those that wait for an attempt are
    /// first.
    /// - Parameters:
    ///   - periods: The devices with the times during which their deliveries are included.
    ///   - tokens: The tokens, each with the time after which its deliveries are included, or `nil` to include all.
    private func deliveries(
        of devices: [DeviceRecord],
        _ periods: [UserPeriod],
        tokens: [DeviceToken: Timestamp?],
        _ app: AppRecord,
        _ request: OperationRequest
    ) async throws -> Response {
        let limit = Int(try request.number("limit", in: 1...Int64(Self.limits.most)) ?? Int64(Self.limits.standard))
        let cursor = try request.cursor(.timeline)
        var recipients = cursor == nil ? try await self.waiting(for: devices, tokens, app, limit) : []
        var next: Int64? = .max
        if recipients.count < limit {
            let before = cursor.map { NotificationCursor(number: $0.position) }
            let page = try await self.page(of: periods, tokens, app, before: before, limit: limit - recipients.count)
            let ended = page.deliveries.map {
                RecipientKey(notification: $0.notification, recipient: $0.recipient)
            }
            // A recipient may have reached a state between the two queries, and would be in both results.
            recipients += ended.filter { !recipients.contains($0) }
            next = page.next?.position
        }
        let timelines = try await self.reader.timelines(of: recipients)
        let cursorText = next.map { Cursor(list: .timeline, position: $0).text }
        return try .page("timelines", timelines.map(TimelineResponse.init), next: cursorText)
    }

    /// Returns the recipients among the given devices and tokens that wait for an attempt. The value of a token is the
    /// time after which its notifications are included, or `nil` for all.
    private func waiting(
        for devices: [DeviceRecord],
        _ tokens: [DeviceToken: Timestamp?],
        _ app: AppRecord,
        _ limit: Int
    ) async throws -> [RecipientKey] {
        var waiting: [RecipientKey] = []
        for (token, since) in tokens {
            let owners = devices.filter { $0.token == token }.map { Optional($0.id) }
            for device in owners.isEmpty ? [nil] : owners {
                waiting += try await self.store.waiting(
                    app: app.id,
                    device: device,
                    token: token,
                    since: since,
                    limit: limit
                )
            }
        }
        var seen: Set<RecipientKey> = []
        return Array(waiting.filter { seen.insert($0).inserted }.prefix(limit))
    }

    /// Returns the newest recorded deliveries to the devices in `periods` and to `tokens`, as a page of a history. A
    /// token's value is the time after which its deliveries are included, or `nil` for all. The page begins after
    /// `before`, or is the first one for `nil`.
    private func page(
        of periods: [UserPeriod],
        _ tokens: [DeviceToken: Timestamp?],
        _ app: AppRecord,
        before: NotificationCursor?,
        limit: Int
    ) async throws -> HistoryPage {
        let horizon = try await self.store.horizon(
            app: app.id,
            before: before,
            campaigns: Self.maximumLookups / max(1, periods.count)
        )
        let after = before.map { Cursor(list: .timeline, position: $0.number) }
        var page = HistoryPage(after: after, limit: limit, horizon: horizon)
        for period in periods {
            page.add(
                try await self.store.deliveries(
                    app: app.id,
                    period: period,
                    before: before,
                    horizon: horizon,
                    limit: limit
                )
            )
        }
        for (token, since) in tokens {
            page.add(
                try await self.store.deliveries(
                    app: app.id,
                    unregistered: token,
                    since: since,
                    before: before,
                    horizon: horizon,
                    limit: limit
                )
            )
        }
        return page
    }
}

/// The response object for a timeline, with its steps in order.
package struct TimelineResponse: ResponseObject {
    package let timeline: Timeline

    /// The steps, each with the time since the previous step.
    package var steps: [TimelineStepResponse] {
        var before: Timestamp?
        return self.timeline.steps.map { step in
            defer { before = step.at }
            return TimelineStepResponse(step: step, since: before.map { max(0, step.at.since($0).milliseconds) })
        }
    }

    package static let schemaName: String? = "Timeline"
    package static let members: [ResponseMember<Self>] = [
        .required("kind", \.timeline.kind),
        .required("notification", \.timeline.notification),
        .optional("app", \.timeline.app),
        .optional("apnsId", \.timeline.apnsID, as: .uuid),
        .optional("deviceId", \.timeline.device),
        .optional("token", \.timeline.token, "The first bytes."),
        .optional("environment", \.timeline.environment),
        .required("state", \.timeline.state, "Of the delivery, pending before it has one; or of the notification."),
        .optional("reason", \.timeline.reason),
        .required("steps", \.steps),
        .required("notes", \.timeline.notes, "What is not known, and the cause."),
    ]
}

/// The response object for a step of a timeline.
package struct TimelineStepResponse: ResponseObject {
    package let step: TimelineStep
    /// The time since the previous step, in milliseconds, or `nil` for the first step.
    package let since: Int64?

    package static let schemaName: String? = "TimelineStep"
    package static let members: [ResponseMember<Self>] = [
        .required("atMs", \.step.at),
        .optional("sinceMs", \.since, as: .integer(), "Milliseconds since the step before."),
        .required("source", \.step.source),
        .required("event", \.step.event),
        .required("text", \.step.text),
    ]
}

extension Timeline.Kind: JSONRepresentable {}
extension TimelineStep.Source: JSONRepresentable {}
extension TimelineStep.Event: JSONRepresentable {}
