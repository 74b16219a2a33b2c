package import Foundation
import PushSupport
package import PushTypes

/// The hours of the week in which sending to recipients is allowed, in local time: inside one of the windows, if there
/// are any, and outside all closed hours.
///
/// Closed hours, the member `quietHours` of `when`, delay a notification. The ``QuietHours`` of a user skip it.
///
/// A window whose opening the clocks skip opens right after the gap. Hours that occur twice are open twice.
package struct SendWindow: Hashable, Sendable {
    /// The maximum number of windows, and of closed hours, in one request. A request with more is rejected.
    package static let maximumHours = 14

    package let windows, closedHours: [DailyHours]

    /// Creates a window, or returns `nil` if it would never be open.
    package init?(windows: [DailyHours] = [], closedHours: [DailyHours] = []) {
        (self.windows, self.closedHours) = (windows, closedHours)
        // Seven days in a row hold every weekday.
        let hasOpening = (0..<7).contains { day in
            self.edges.contains { self.isOpen(LocalDateTime(date: CivilDate(dayNumber: 7 + day), time: $0)) }
        }
        guard hasOpening else { return nil }
    }

    package func isOpen(at timestamp: Timestamp, in zone: TimeZone) -> Bool { self.isOpen(zone.local(at: timestamp)) }

    /// Returns `timestamp` itself if it is in open hours, or the next opening otherwise.
    package func nextOpening(onOrAfter timestamp: Timestamp, in zone: TimeZone) -> Timestamp {
        // Nothing is found only after the end of the calendar: every value of this type opens each week.
        self.first(onOrAfter: timestamp, in: zone, isOpen: true) ?? timestamp
    }

    /// Returns the first time from `timestamp` on that is not in open hours, or `nil` if they never end.
    package func closes(after timestamp: Timestamp, in zone: TimeZone) -> Timestamp? {
        self.first(onOrAfter: timestamp, in: zone, isOpen: false)
    }

    private func isOpen(_ local: LocalDateTime) -> Bool {
        let day = local.date.weekday
        let dayBefore = CivilDate(dayNumber: local.date.dayNumber - 1).weekday
        func isIn(_ hours: DailyHours) -> Bool { hours.contains(local.time, on: day, after: dayBefore) }
        return (self.windows.isEmpty || self.windows.contains(where: isIn)) && !self.closedHours.contains(where: isIn)
    }

    /// The times of day at which hours may open or close, in order.
    private var edges: [LocalTime] {
        Set((self.windows + self.closedHours).flatMap { [$0.from, $0.to] } + [.midnight]).sorted()
    }

    private func first(onOrAfter timestamp: Timestamp, in zone: TimeZone, isOpen wanted: Bool) -> Timestamp? {
        guard self.isOpen(at: timestamp, in: zone) != wanted else { return timestamp }
        let edges = self.edges
        let start = timestamp.calendarSeconds
        // Two weeks and the day that a zone may leave out when it crosses the date line.
        let end = start + 16 * 86_400
        var span = zone.span(from: start)
        while span.start < end {
            let last = min(span.localEnd, end + span.offset)
            if let local = self.firstLocal(span.localStart..<last, edges, isOpen: wanted) {
                return Timestamp(seconds: local.localSeconds - span.offset)
            }
            span = zone.span(from: span.end)
        }
        return nil
    }

    /// Returns the first local time in `range` (seconds since 1970 on that clock) whose openness is `wanted`.
    private func firstLocal(_ range: Range<Int64>, _ edges: [LocalTime], isOpen wanted: Bool) -> LocalDateTime? {
        let start = LocalDateTime(localSeconds: range.lowerBound)
        if self.isOpen(start) == wanted { return start }
        var date = start.date
        while date.dayNumber * 86_400 < range.upperBound {
            for edge in edges {
                let local = LocalDateTime(date: date, time: edge)
                guard local > start, local.localSeconds < range.upperBound else { continue }
                if self.isOpen(local) == wanted { return local }
            }
            // The calendar's last day has no next.
            guard date.next > date else { return nil }
            date = date.next
        }
        return nil
    }
}

extension SendWindow {
    /// The members `window` and `quietHours` of a request, each an object or an array of objects.
    static let (windowMember, closedHoursMember) = (Self.hours("window"), Self.hours("quietHours"))

    private static func hours(_ name: String) -> RequestMember<[DailyHours]> {
        let one = DailyHours.object.schema
        let several = Schema.array(of: one, count: 1...Self.maximumHours)
        return RequestMember<[DailyHours]>(name, .any(of: [one, several])) { (fields, name) throws(RequestError) in
            var hours: [DailyHours] = []
            for object in try fields.objects(name, count: Self.maximumHours, known: DailyHours.object.known) {
                hours.append(try DailyHours(object))
            }
            return hours
        }
    }

    /// Reads the members `window` and `quietHours` of a request, or returns `nil` if both are absent.
    static func parse(_ fields: JSONFields) throws(RequestError) -> SendWindow? {
        let windows = try fields.value(Self.windowMember) ?? []
        let closedHours = try fields.value(Self.closedHoursMember) ?? []
        guard !windows.isEmpty || !closedHours.isEmpty else { return nil }
        guard let window = SendWindow(windows: windows, closedHours: closedHours) else {
            let name = closedHours.isEmpty ? "window" : "quietHours"
            throw fields.error(name, "never_open", "no hour is left to send in")
        }
        return window
    }

    /// The send window as members of a request, which ``parse(_:)`` reads.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (name, hours) in [("window", self.windows), ("quietHours", self.closedHours)] where !hours.isEmpty {
            members[name] = hours.count == 1 ? hours[0].json : .array(hours.map(\.json))
        }
        return members
    }
}

extension JSONFields {
    /// Reads a member that is an object, or an array of 1 to `count` objects. An absent member has none.
    fileprivate func objects(_ name: String, count: Int, known: Set<String>) throws(RequestError) -> [JSONFields] {
        guard case .array(let values)? = self.members[name] else {
            guard let single = try self.fields(name, known: known) else { return [] }
            return [single]
        }
        guard (1...count).contains(values.count)
        else { throw self.error(name, "invalid_value", "give 1 to \(count) of them, not \(values.count)") }
        var objects: [JSONFields] = []
        for (index, value) in values.enumerated() {
            let fault = self.wrongType("\(name)[\(index)]", "an object")
            guard case .object(let members) = value else { throw fault }
            objects.append(try JSONFields(members: members, path: fault.path, known: known))
        }
        return objects
    }
}
