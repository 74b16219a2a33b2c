import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// The operations at `/v1/events`, `/v1/notifications` and `/v1/counters`, which read the event log.
struct AdminEventsController: Controller {
    /// The maximum number of events in the timeline of one notification. If there are more, the oldest are omitted.
    private static let maximumTimeline = 1000
    /// The number of entries on a page if the request sets no `limit`.
    private static let pageSize: Int64 = 50
    private static let filters: [ParameterDescription] = [
        .after, .environment, .topic, .query("device", "Of this device."),
        .query("apnsId", "Of this notification."), .query("token", "Of this token."),
    ]

    let events: EventLog
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]

    private struct Counter: ResponseObject {
        let environment: PushEnvironment?
        let name: Event.Name
        let count: Int

        static let members: [ResponseMember<Self>] = [
            .optional("environment", \.environment),
            .required("event", \.name.text),
            .required("name", \.name.code),
            .required("count", \.count),
        ]
    }

    var operations: [AdminOperation] {
        let limit = ParameterDescription.limit(default: Self.pageSize)
        return [
            .get("/v1/events", "listEvents", "Events, newest first; with after oldest first, from an id.", self.list)
                .parameters(Self.filters + [limit]),
            .get("/v1/events/stream", "streamEvents", "Events as they happen, as server-sent events.", self.stream)
                .parameters(Self.filters),
            .get("/v1/devices/{device}/events", "listDeviceEvents", "The events of a device.", self.listOfDevice)
                .parameters(limit),
            .get("/v1/notifications/{apnsId}", "showNotification", "The state of a notification.", self.timeline),
            .get("/v1/counters", "listCounters", "The numbers of events.", self.counters),
        ]
    }

    /// Responds with events: the newest first, or the oldest first if the query has `after`.
    private func list(_ request: OperationRequest) async throws -> Response {
        let filter = try self.filter(request)
        let limit = try request.limit(default: Self.pageSize)
        let after = try request.text("after").flatMap { _ in try request.number("after", in: 0...Int64.max) }
        let events =
            if let after {
                try await self.events.events(filter, after: after, limit: limit)
            } else {
                try await self.events.events(filter, limit: limit)
            }
        return try .page("events", events)
    }

    /// Responds with the newest events of a device, which may have been deleted.
    private func listOfDevice(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        let limit = try request.limit(default: Self.pageSize)
        let events = try await self.events.events(EventFilter(device: id), limit: limit)
        guard !events.isEmpty || self.devices.device(id) != nil else { throw RequestError.noSuch("device") }
        return try .page("events", events)
    }

    /// Streams the events with ids above the last one that the client has received, which is in `last-event-id` or the
    /// query item `after`. Without either, the stream begins with the next event.
    private func stream(_ request: OperationRequest) async throws -> Response {
        let last = try request.http.headers[.lastEventID] ?? request.text("after")
        guard let start = last.map(Int64.init) ?? self.events.lastID, start >= 0 else {
            throw RequestError.invalid("last-event-id", "an event id is a number")
        }
        let feed = EventFeed(log: self.events, filter: try self.filter(request), start: start)
        return try feed.response(to: request.http)
    }

    /// Responds with the events and the state of a notification. The state is a text for one device, or for several the
    /// number of devices in each state.
    private func timeline(_ request: OperationRequest) async throws -> Response {
        let apnsID = request.path("apnsId")
        let events: [Event] = try await self.events.events(EventFilter(apnsID: apnsID), limit: Self.maximumTimeline)
            .reversed()
        guard let last = events.last else { throw RequestError.noSuch("notification", by: "apns-id", at: "apnsId") }
        var newest: [UUID: Event] = [:]
        for event in events { newest[event.device] = event }
        // The event of a broadcast as a whole belongs to no device.
        if newest.count > 1 { newest[RoutingStateMachine.allDevices] = nil }
        let states = newest.values.sorted { $0.id < $1.id }.map(NotificationState.init(last:))
        let counts = Dictionary(grouping: states, by: \.text).mapValues(\.count)
        let state =
            states.count == 1
            ? states[0].text
            : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: "; ")
        return try .json([
            "apnsId": (last.apnsID ?? apnsID).json, "state": state.json, "devices": states.json, "events": events.json,
        ])
    }

    /// Responds with the number of events of each name since the gateway was started. Environments that are not served
    /// are omitted.
    private func counters(_ request: OperationRequest) async throws -> Response {
        let served = Set(self.environments.map(\.environment))
        let counters = self.events.counts()
            .filter { count in count.count > 0 || count.environment.map(served.contains) ?? false }
            .map { Counter(environment: $0.environment, name: $0.name, count: $0.count) }
        return try .page("counters", counters)
    }

    /// Creates an event filter from the query items. A device token is converted to its device, topic and environment.
    private func filter(_ request: OperationRequest) throws -> EventFilter {
        var filter = EventFilter()
        filter.device = try request.device("device")
        filter.environment = try request.environment()
        filter.apnsID = try request.text("apnsId")
        filter.topic = try request.text("topic")
        guard let text = try request.text("token") else { return filter }
        guard filter.device == nil, filter.topic == nil, filter.environment == nil else {
            let message = "a token implies a device, a topic and an environment: leave these out"
            throw RequestError(.invalid, code: "conflicting_field", message: message, path: "token")
        }
        guard let claims = DeviceToken(hex: text).flatMap(self.devices.minter.open),
            let topic = self.devices.topic(claims.topic, on: claims.device, in: claims.environment)
        else {
            let message = "a device token of this gateway is hexadecimal"
            throw RequestError(.invalid, code: "invalid_token", message: message, path: "token")
        }
        (filter.device, filter.environment, filter.topic) = (claims.device, claims.environment, topic.name)
        return filter
    }
}

extension HTTPField.Name {
    fileprivate static var lastEventID: Self {
        // The name is valid, so the fallback is never used.
        HTTPField.Name("last-event-id") ?? .range
    }
}

extension Event: ResponseObject {
    /// The device of the event, or `nil` for an event of a broadcast as a whole.
    fileprivate var oneDevice: UUID? { self.device == RoutingStateMachine.allDevices ? nil : self.device }

    static let members: [ResponseMember<Self>] = [
        .required("id", \.id, "The id, which increases with every event."),
        .required("timeMs", \.time),
        .required("event", \.name.text, "The name for people: that of Apple where Apple has one."),
        .required("name", \.name.code, "The name for programs."),
        .optional("environment", \.environment),
        .optional("device", \.oneDevice),
        .optional("topic", \.topic),
        .optional("apnsId", \.apnsID),
    ]
}

/// The state of one notification at one device.
private struct NotificationState: ResponseObject {
    let last: Event

    static let members: [ResponseMember<Self>] = [
        .optional("device", \.last.oneDevice),
        .optional("environment", \.last.environment),
        .optional("topic", \.last.topic),
        .required("state", \.text),
        .required("sinceMs", \.last.time),
    ]

    /// The state as human-readable text, such as `delivered from storage`.
    var text: String {
        switch self.last.name {
        case .received: "sent to the device, not acknowledged yet"
        case .delivered: "delivered"
        case .deliveredFromStorage: "delivered from storage"
        case .storedOffline: "stored until the device connects"
        case .storedUnfiltered: "stored until the device asks for its topic"
        case .storedPower: "stored until the device can be woken or asks for it"
        case .replaced: "discarded: a newer one took its place"
        case .expired: "discarded: it expired"
        case .unregistered, .unregisteredFromStorage: "discarded: the token is not registered"
        case .disabled, .disabledFromStorage: "discarded: the device does not want this topic"
        case .rejectedByDevice: "discarded: the device refused it"
        case .tooManyRequests: "refused with 429: too much was sent to the device"
        case .activated, .connected, .disconnected, .tokenMinted, .appRemoved, .deleted, .revoked, .subscribed,
            .unsubscribed:
            self.last.name.text
        }
    }
}
