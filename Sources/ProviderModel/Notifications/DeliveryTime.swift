package import Foundation
package import PushSupport
package import PushTypes

/// The delivery time of a notification: the start of sending, and the hours in which sending is allowed. It is the
/// member `when` of a request.
package struct DeliveryTime: Hashable, Sendable {
    /// The start of sending.
    package enum Beginning: Hashable, Sendable {
        /// An immediate start.
        case now
        case at(Timestamp)
        /// A start when the clocks of ``DeliveryTime/zone`` show this date and time.
        case local(LocalDateTime, past: PastPolicy)
    }

    /// The policy for devices in whose zone the local time had passed when the request was accepted.
    package enum PastPolicy: String, CaseIterable, Hashable, Sendable {
        /// The policy to send the notification immediately to devices whose local time has passed.
        case send
        /// The policy to leave out devices whose local time has passed.
        case skip
        /// The policy to wait until the clocks of devices whose local time has passed next show that time of day.
        case nextDay
    }

    /// The time zone in which local times are interpreted.
    package enum Zone: Hashable, Sendable {
        /// The device's own zone, or the standard one for a device without a known zone.
        case device(standard: TimeZone)
        case fixed(TimeZone)
    }

    /// The maximum age of the start time in a request, which takes time to arrive. An older time counts as past.
    package static let tolerance: Duration = .seconds(60)
    /// The maximum time from a request to the start time that it names.
    package static let maximumDelay: Duration = .seconds(366 * 86_400)

    package var beginning: Beginning
    /// The send window, or `nil` if sending is allowed at any hour.
    package var window: SendWindow?
    package var zone = Zone.device(standard: .gmt)

    /// A Boolean value that indicates whether sending begins at the same moment in all time zones.
    package var isSameEverywhere: Bool {
        if case .fixed = self.zone { return true }
        if case .local = self.beginning { return false }
        return self.window == nil
    }

    /// Returns the first time at which sending to devices in `zone` is allowed, or `nil` if ``PastPolicy/skip`` leaves
    /// them out.
    /// - Parameters:
    ///   - zone: The zone that the devices reported, or `nil` for none or an unknown one.
    ///   - acceptedAt: The time at which the request was accepted, so that the result is always the same.
    package func start(for zone: TimeZone?, acceptedAt: Timestamp) -> Timestamp? {
        let zone = self.effectiveZone(zone)
        guard let beginning = self.beginning(in: zone, acceptedAt: acceptedAt) else { return nil }
        return self.window?.nextOpening(onOrAfter: beginning, in: zone) ?? beginning
    }

    /// Returns the time at which sending to devices in `zone` may continue: `timestamp` itself inside open hours, or
    /// the next opening otherwise. The dispatcher calls it before each page, because open hours may end meanwhile.
    package func opening(onOrAfter timestamp: Timestamp, for zone: TimeZone?) -> Timestamp {
        self.window?.nextOpening(onOrAfter: timestamp, in: self.effectiveZone(zone)) ?? timestamp
    }

    /// Returns a time before which sending to no device begins, in whatever zone it is.
    package func earliestStart(acceptedAt: Timestamp) -> Timestamp {
        switch (self.zone, self.beginning) {
        case (.fixed(let zone), _): return self.start(for: zone, acceptedAt: acceptedAt) ?? acceptedAt
        case (.device, .local(let local, _)):
            // The easternmost clocks are 14 h ahead of UTC.
            return max(acceptedAt, Timestamp(seconds: local.localSeconds - 14 * 3600))
        case (.device, .at(let timestamp)): return max(acceptedAt, timestamp)
        case (.device, .now): return acceptedAt
        }
    }

    private func effectiveZone(_ zone: TimeZone?) -> TimeZone {
        switch self.zone {
        case .fixed(let fixed): fixed
        case .device(let standard): zone ?? standard
        }
    }

    private func beginning(in zone: TimeZone, acceptedAt: Timestamp) -> Timestamp? {
        switch self.beginning {
        case .now: return acceptedAt
        case .at(let timestamp): return max(timestamp, acceptedAt)
        case .local(let local, let past):
            let timestamp = zone.timestamp(of: local)
            guard timestamp < acceptedAt.advanced(by: .zero - Self.tolerance) else { return max(timestamp, acceptedAt) }
            switch past {
            case .send: return acceptedAt
            case .skip: return nil
            case .nextDay: return Self.next(local.time, onOrAfter: acceptedAt, in: zone)
            }
        }
    }

    /// Returns the first time, `timestamp` or later, at which the clocks of `zone` show `time`.
    private static func next(_ time: LocalTime, onOrAfter timestamp: Timestamp, in zone: TimeZone) -> Timestamp {
        var date = zone.local(at: timestamp).date
        // Two more days: one whose time has passed, and one that a zone may leave out.
        for _ in 0..<3 {
            let candidate = zone.timestamp(of: LocalDateTime(date: date, time: time))
            if candidate >= timestamp { return candidate }
            date = date.next
        }
        return timestamp
    }
}

extension DeliveryTime: StoredJSON {
    private static let at = Member.time("at")
    private static let localTime = Member.text("localTime", maximum: 32, as: .localTime)
        .described("2026-11-25T09:30, in each device's time zone.")
        .parsed("invalid_time", "write it as 2026-11-25T09:30, without a time zone") { text -> LocalDateTime? in
            LocalDateTime(text).flatMap { $0.date.year >= 1970 ? $0 : nil }
        }
    private static let past = Member.choice(
        "past",
        of: PastPolicy.self,
        maximum: 16,
        message: "use send, skip or nextDay"
    )
    private static let timeZone = Member.timeZone("timeZone").described("device, or one zone for all.")
    private static let defaultTimeZone = Member.timeZone("defaultTimeZone")

    package static let object = RequestObject(optional: [
        Self.at, Self.localTime, Self.past, SendWindow.windowMember, SendWindow.closedHoursMember,
        Self.timeZone, Self.defaultTimeZone,
    ]) {
        $0.requiringOne(of: "at", "localTime", "window", "quietHours").requiring("localTime", beside: ["past"])
            .named("DeliveryTime")
    }

    /// The member `when` of a request.
    package static let member = Member.object("when", Self.object)

    /// Reads the member `when` of a request, or returns `nil` if it is absent.
    /// - Throws: ``RequestError`` that names the member at fault, also where the time is past, too far ahead or after
    ///   the notification's expiration.
    package static func parse(
        in fields: JSONFields,
        acceptedAt: Timestamp,
        expiration: Expiration
    ) throws(RequestError) -> DeliveryTime? {
        guard let fields = try fields.value(Self.member) else { return nil }
        let time = try DeliveryTime(fields)
        try time.check(fields, acceptedAt: acceptedAt)
        try time.check(fields, acceptedAt: acceptedAt, expiration: expiration)
        return time
    }

    package init(_ fields: JSONFields) throws(RequestError) {
        let window = try SendWindow.parse(fields)
        let zone = try Self.zone(fields)
        let beginning = try Self.beginning(fields, zone: zone)
        if beginning == .now, window == nil {
            throw fields.error("at", "missing_field", "name at, localTime, window or quietHours")
        }
        self.init(beginning: beginning, window: window, zone: zone)
        try self.checkZoneIsUsed(fields)
    }

    private static func beginning(_ fields: JSONFields, zone: Zone) throws(RequestError) -> Beginning {
        let (at, past) = (try fields.value(Self.at), try fields.value(Self.past))
        if at != nil, fields.members["localTime"] != nil {
            throw fields.error("localTime", "conflicting_field", "give at or localTime, not both")
        }
        guard let local = try fields.value(Self.localTime) else {
            if past != nil { throw fields.error("past", "conflicting_field", "it belongs to localTime") }
            return at.map(Beginning.at) ?? .now
        }
        if case .fixed = zone, past != nil {
            throw fields.error("past", "conflicting_field", "with one time zone for all devices it has no effect")
        }
        return .local(local, past: past ?? .send)
    }

    private static func zone(_ fields: JSONFields) throws(RequestError) -> Zone {
        let standard = try fields.value(Self.defaultTimeZone)
        guard fields.members["timeZone"] != nil, fields.members["timeZone"] != .string("device")
        else { return .device(standard: standard ?? .gmt) }
        guard let zone = try fields.value(Self.timeZone) else { return .device(standard: standard ?? .gmt) }
        guard standard == nil else {
            throw fields.error("defaultTimeZone", "conflicting_field", "timeZone holds for all devices already")
        }
        return .fixed(zone)
    }

    private func checkZoneIsUsed(_ fields: JSONFields) throws(RequestError) {
        if case .local = self.beginning { return }
        guard self.window == nil else { return }
        for name in ["timeZone", "defaultTimeZone"] where fields.members[name] != nil {
            throw fields.error(name, "conflicting_field", "only localTime, window and quietHours need a time zone")
        }
    }
}

extension DeliveryTime {
    /// Checks that the time is not past in every zone, and at most ``maximumDelay`` ahead.
    private func check(_ fields: JSONFields, acceptedAt: Timestamp) throws(RequestError) {
        let (name, latest): (String, Timestamp)
        switch (self.beginning, self.zone) {
        case (.now, _): return
        case (.at(let timestamp), _): (name, latest) = ("at", timestamp)
        case (.local(let local, _), .fixed(let zone)): (name, latest) = ("localTime", zone.timestamp(of: local))
        case (.local(let local, _), .device):
            // The westernmost clocks are 12 h behind UTC.
            (name, latest) = ("localTime", Timestamp(seconds: local.localSeconds + 12 * 3600))
        }
        guard latest >= acceptedAt.advanced(by: .zero - Self.tolerance)
        else { throw fields.error(name, "past_time", "it is in the past; leave it out to send now") }
        guard latest <= acceptedAt.advanced(by: Self.maximumDelay)
        else { throw fields.error(name, "too_far_ahead", "at most 366 days ahead") }
    }

    /// Checks that sending starts before the expiration, in the fixed or the standard zone. Devices in other zones are
    /// checked one by one later.
    private func check(_ fields: JSONFields, acceptedAt: Timestamp, expiration: Expiration) throws(RequestError) {
        guard case .at(let seconds) = expiration else { return }
        guard let start = self.start(for: nil, acceptedAt: acceptedAt), start >= Timestamp(seconds: seconds)
        else { return }
        let name =
            switch self.beginning {
            case .local: "localTime"
            case .at: "at"
            case .now: self.window?.windows.isEmpty == false ? "window" : "quietHours"
            }
        throw fields.error(
            name,
            "starts_after_expiration",
            "sending would begin at \(start.rfc3339), when the notification has expired"
        )
    }

    package var json: JSONValue {
        var members = self.window?.members ?? [:]
        var usesZone = self.window != nil
        switch self.beginning {
        case .now: break
        case .at(let timestamp): members["at"] = .string(timestamp.rfc3339)
        case .local(let local, let past):
            members["localTime"] = .string(local.description)
            if case .device = self.zone { members["past"] = .string(past.rawValue) }
            usesZone = true
        }
        guard usesZone else { return .object(members) }
        switch self.zone {
        case .fixed(let zone): members["timeZone"] = .string(zone.identifier)
        case .device(let standard):
            members["timeZone"] = .string("device")
            members["defaultTimeZone"] = .string(standard.identifier)
        }
        return .object(members)
    }
}

extension Schema {
    /// The schema for a local date and time from 1970 on, without a time zone.
    package static let localTime = Schema.string(
        length: 16...19,
        pattern: "^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]"
            + "(:[0-5][0-9])?$"
    )
}
