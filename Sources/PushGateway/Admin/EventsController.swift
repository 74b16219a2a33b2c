import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/events`, `/v1/notifications` and `/v1/counters`: what happened.
struct EventsController: AdminRoutes {
    /// Most events of one notification that are shown.
    private static let longestTimeline = 1000

    let events: EventLog
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]

    private struct Page: Encodable {
        var events: [EventEntry]
    }

    private struct Timeline: Encodable {
        var apnsId: String
        /// In words; how many devices are in which state, if there are several.
        var state: String
        var devices: [NotificationState]
        var events: [EventEntry]
    }

    private struct Counter: Encodable {
        var environment: String?
        var event: String
        var name: String
        var count: Int
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("events", use: self.list)
        group.get("events/stream", use: self.stream)
        group.get("devices/:device/events", use: self.listOfDevice)
        group.get("notifications/:apnsId", use: self.timeline)
        group.get("counters", use: self.counters)
    }

    /// Newest first; oldest first with `after`, so that a reader can go on from the last id it has.
    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let filter = try self.filter(request)
        let limit = Int(try request.number("limit", in: 1...1000, default: 50))
        let events =
            if try request.text("after") != nil {
                try await self.events.events(
                    filter,
                    after: try request.number("after", in: 0...Int64.max, default: 0),
                    limit: limit
                )
            } else {
                try await self.events.events(filter, limit: limit)
            }
        return try JSONResponse.make(.ok, Page(events: events.map(EventEntry.init)))
    }

    @Sendable private func listOfDevice(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        let limit = Int(try request.number("limit", in: 1...1000, default: 50))
        let events = try await self.events.events(EventFilter(device: id), limit: limit)
        guard !events.isEmpty || self.devices.device(id) != nil else { throw RequestError.noSuchDevice }
        return try JSONResponse.make(.ok, Page(events: events.map(EventEntry.init)))
    }

    @Sendable private func stream(_ request: Request, _ context: AdminContext) async throws -> Response {
        let last = try request.headers[.lastEventID] ?? request.text("after")
        guard let start = last.map(Int64.init) ?? self.events.lastID, start >= 0 else {
            throw RequestError(
                .invalid,
                code: "invalid_value",
                message: "an event id is a number",
                path: "last-event-id"
            )
        }
        let feed = EventFeed(log: self.events, filter: try self.filter(request), start: start)
        return try feed.response(to: request)
    }

    @Sendable private func timeline(_ request: Request, _ context: AdminContext) async throws -> Response {
        let apnsID = context.parameters.get("apnsId") ?? ""
        let events: [Event] = try await self.events.events(EventFilter(apnsID: apnsID), limit: Self.longestTimeline)
            .reversed()
        guard let last = events.last else {
            throw RequestError(
                .notFound,
                code: "no_such_notification",
                message: "nothing is known of a notification with this apns-id",
                path: "apnsId"
            )
        }
        return try JSONResponse.make(.ok, Self.timeline(events, apnsID: last.apnsID ?? apnsID))
    }

    /// - Parameter events: oldest first.
    private static func timeline(_ events: [Event], apnsID: String) -> Timeline {
        var newest: [UUID: Event] = [:]
        for event in events { newest[event.device] = event }
        // The event that stands for a broadcast as a whole says nothing of a device.
        if newest.count > 1 { newest[RoutingStateMachine.allDevices] = nil }
        let states = newest.values.sorted { $0.id < $1.id }.map(NotificationState.init)
        let counts = Dictionary(grouping: states, by: \.state).mapValues(\.count)
        let state =
            states.count == 1
            ? states[0].state
            : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: "; ")
        return Timeline(apnsId: apnsID, state: state, devices: states, events: events.map(EventEntry.init))
    }

    @Sendable private func counters(_ request: Request, _ context: AdminContext) async throws -> Response {
        let served = Set(self.environments.map(\.environment))
        let counters = self.events.counts()
            .filter { count in count.count > 0 || count.environment.map(served.contains) ?? false }
            .map {
                Counter(
                    environment: $0.environment?.rawValue,
                    event: $0.name.text,
                    name: $0.name.code,
                    count: $0.count
                )
            }
        return try JSONResponse.make(.ok, ["counters": counters])
    }

    private func filter(_ request: Request) throws -> EventFilter {
        var filter = EventFilter()
        filter.device = try request.device("device")
        filter.environment = try request.environment()
        filter.apnsID = try request.text("apnsId")
        filter.topic = try request.text("topic")
        guard let text = try request.text("token") else { return filter }
        guard filter.device == nil, filter.topic == nil, filter.environment == nil else {
            throw RequestError(
                .invalid,
                code: "conflicting_field",
                message: "a token stands for a device, a topic and an environment: name it without these",
                path: "token"
            )
        }
        guard let claims = DeviceToken(hex: text).flatMap(self.devices.minter.open),
            let topic = self.devices.topic(claims.topic, on: claims.device, in: claims.environment)
        else {
            throw RequestError(
                .invalid,
                code: "invalid_token",
                message: "this is no device token of this gateway, in hexadecimal",
                path: "token"
            )
        }
        (filter.device, filter.environment, filter.topic) = (claims.device, claims.environment, topic.name)
        return filter
    }
}

extension HTTPField.Name {
    fileprivate static var lastEventID: Self {
        // The name is valid, so this never falls back.
        HTTPField.Name("last-event-id") ?? .range
    }
}
