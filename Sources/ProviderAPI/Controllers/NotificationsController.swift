import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Notifications in the ledger: lists, progress, pausing, what became of each recipient.
struct NotificationsController: Controller {
    let store: any ProviderStore
    let wakes: LaneWakeSignals
    let time: any TimeSource

    var operations: [APIOperation] {
        let filters = [
            ParameterDescription(
                name: "state",
                summary: "In this state.",
                schema: .choice(NotificationRecord.State.allCases.map(\.rawValue))
            ), ParameterDescription.cursor, .limit(),
        ]
        return [
            APIOperation(
                method: .get,
                path: "/v1/apps/{app}/notifications",
                id: "listAppNotifications",
                summary: "An app's notifications, newest first.",
                tag: .notifications,
                scope: .read,
                parameters: filters,
                answers: [.ok(.page("notifications", of: NotificationResponse.schema))]
            ) { try await self.list($0, app: try await $0.app(self.store)) },
            APIOperation(
                method: .get,
                path: "/v1/notifications",
                id: "listNotifications",
                summary: "All apps' notifications, newest first.",
                tag: .notifications,
                scope: .read,
                parameters: filters,
                answers: [.ok(.page("notifications", of: NotificationResponse.schema))]
            ) { try await self.list($0, app: nil) },
            APIOperation(
                method: .get,
                path: "/v1/notifications/{notification}",
                id: "showNotification",
                summary: "A notification and its progress.",
                tag: .notifications,
                scope: .read,
                answers: [.ok(NotificationResponse.schema)],
                handler: self.show
            ),
            self.change("pause", "Stops it after the pages in flight.", .pause(reason: nil)),
            self.change("resume", "Goes on where it was paused.", .resume),
            self.change("cancel", "Stops it for good.", .cancel),
            APIOperation(
                method: .get,
                path: "/v1/notifications/{notification}/deliveries",
                id: "listDeliveries",
                summary: "What became of its recipients.",
                tag: .notifications,
                scope: .read,
                parameters: [
                    ParameterDescription(
                        name: "state",
                        summary: "In this state.",
                        schema: .choice(DeliveryResponse.states)
                    ),
                    .cursor, .limit(),
                ],
                answers: [.ok(DeliveryListResponse.schema)],
                cost: .question,
                handler: self.deliveries
            ),
        ]
    }

    private struct Page: Encodable {
        var notifications: [NotificationResponse]
        var next: String?
    }

    private func change(_ word: String, _ summary: String, _ change: StateChange) -> APIOperation {
        APIOperation(
            method: .post,
            path: "/v1/notifications/{notification}:\(word)",
            id: "\(word)Notification",
            summary: summary,
            tag: .notifications,
            scope: .send,
            answers: [.ok(NotificationResponse.schema)],
            refusals: [409],
            isAudited: true
        ) { try await self.set(change, word, $0) }
    }

    private func list(_ call: OperationRequest, app: AppRecord?) async throws -> Response {
        let limit = try call.limit()
        let (notifications, next) = try await self.store.notifications(
            app: app?.id,
            state: try call.choice("state", NotificationRecord.State.self),
            before: try call.cursor(.notifications).map(NotificationCursor.init(number:)),
            limit: limit
        )
        var names: [Int64: Topic] = [:]
        if let app {
            names[app.id] = app.bundleID
        } else {
            for app in try await self.store.apps() { names[app.id] = app.bundleID }
        }
        let now = self.time.now
        return try JSONResponse.make(
            .ok,
            Page(
                notifications: notifications.map { NotificationResponse($0, app: names[$0.app], now: now) },
                next: next.map { Cursor(list: .notifications, position: $0.number).text }
            )
        )
    }

    private func show(_ call: OperationRequest) async throws -> Response {
        let notification = try await self.notification(call)
        var answer = try await self.answer(notification)
        answer.to = notification.audience.json
        return try JSONResponse.make(.ok, answer)
    }

    private func set(_ change: StateChange, _ word: String, _ call: OperationRequest) async throws -> Response {
        guard let id = call.uuid("notification"), let after = try await self.changed(id, change) else {
            throw RequestError.noSuch("notification", "notification")
        }
        guard change.isDone(in: after) else {
            throw RequestError(
                .conflict,
                code: "wrong_state",
                message: "it is \(after.state.rawValue): \(word) is not possible",
                path: "notification"
            )
        }
        self.wakes[after.lane].signal()
        return try JSONResponse.make(.ok, try await self.answer(after))
    }

    private func changed(_ id: UUID, _ change: StateChange) async throws -> NotificationRecord? {
        do {
            return try await self.store.setState(change, of: id, now: self.time.recorded)
        } catch is DamagedRow {
            throw RequestError(
                .conflict,
                code: "unreadable",
                message: "what is stored of it cannot be read, see martlet check: \(change.effectOnUnreadable)",
                path: "notification"
            )
        }
    }

    private func deliveries(_ call: OperationRequest) async throws -> Response {
        let notification = try await self.notification(call)
        let limit = try call.limit()
        var state: DeliveryRecord.State?
        if let word = call.query["state"] {
            state = DeliveryRecord.State.allCases.first { $0.word == word }
            guard state != nil else {
                throw RequestError.invalid("state", "use one of \(DeliveryResponse.states.joined(separator: ", "))")
            }
        }
        let deliveries = try await self.store.deliveries(
            of: notification.id,
            state: state,
            after: try call.cursor(.deliveries),
            limit: limit
        )
        return try JSONResponse.make(.ok, DeliveryListResponse(deliveries, limit: limit))
    }

    private func notification(_ call: OperationRequest) async throws -> NotificationRecord {
        guard let id = call.uuid("notification"), let notification = try await self.store.notification(id) else {
            throw RequestError.noSuch("notification", "notification")
        }
        return notification
    }

    private func answer(_ notification: NotificationRecord) async throws -> NotificationResponse {
        let app = try await self.store.app(id: notification.app)
        return NotificationResponse(notification, app: app?.bundleID, now: self.time.now)
    }
}

extension StateChange {
    /// Whether the notification is where this was to bring it.
    fileprivate func isDone(in notification: NotificationRecord) -> Bool {
        switch self {
        case .pause: notification.state == .paused
        case .resume: [.scheduled, .accepted, .sending].contains(notification.state)
        case .cancel: notification.state == .cancelled
        }
    }

    /// What has become of a notification that cannot be read.
    fileprivate var effectOnUnreadable: String {
        switch self {
        case .pause: "it is paused, unless it had ended"
        case .resume: "it cannot go on, cancel it"
        case .cancel: "it is cancelled, unless it had ended"
        }
    }
}
