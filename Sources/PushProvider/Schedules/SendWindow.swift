package import Foundation
import PushSupport
package import PushTypes

/// The hours of the week in which something may be sent: inside one of the windows (always, if there is none) and outside
/// all quiet hours, by what the clock on the wall shows.
///
/// Where the clocks are changed, what they show counts: a window whose opening is skipped opens right after the gap, and
/// hours that come twice are open twice.
package struct SendWindow: Hashable, Sendable {
    /// Windows in one request, and quiet hours as well.
    package static let maximumHours = 14

    package let windows: [DailyHours]
    package let quietHours: [DailyHours]

    /// `nil` if together they are never open.
    package init?(windows: [DailyHours] = [], quietHours: [DailyHours] = []) {
        self.windows = windows
        self.quietHours = quietHours
        // Seven days in a row hold every weekday.
        let hasOpening = (0..<7).contains { day in
            self.edges.contains { self.isOpen(LocalDateTime(date: CivilDate(dayNumber: 7 + day), time: $0)) }
        }
        guard hasOpening else { return nil }
    }

    package func isOpen(at moment: Timestamp, in zone: TimeZone) -> Bool {
        self.isOpen(zone.local(at: moment))
    }

    /// `moment` itself if it is in open hours, otherwise the moment at which they open next.
    package func nextOpening(onOrAfter moment: Timestamp, in zone: TimeZone) -> Timestamp {
        // Only past the calendar's end nothing is found: what was accepted by this type opens every week.
        self.first(onOrAfter: moment, in: zone, isOpen: true) ?? moment
    }

    /// When open hours end, seen from `moment`: the first moment from then on that is not in them. `nil` if they never
    /// end.
    package func closes(after moment: Timestamp, in zone: TimeZone) -> Timestamp? {
        self.first(onOrAfter: moment, in: zone, isOpen: false)
    }

    private func isOpen(_ local: LocalDateTime) -> Bool {
        let day = local.date.weekday
        let dayBefore = CivilDate(dayNumber: local.date.dayNumber - 1).weekday
        func isIn(_ hours: DailyHours) -> Bool { hours.contains(local.time, on: day, after: dayBefore) }
        return (self.windows.isEmpty || self.windows.contains(where: isIn)) && !self.quietHours.contains(where: isIn)
    }

    /// The times of day at which anything may open or close, in order.
    private var edges: [LocalTime] {
        Set((self.windows + self.quietHours).flatMap { [$0.from, $0.to] } + [.midnight]).sorted()
    }

    private func first(onOrAfter moment: Timestamp, in zone: TimeZone, isOpen wanted: Bool) -> Timestamp? {
        guard self.isOpen(at: moment, in: zone) != wanted else { return moment }
        let edges = self.edges
        let start = moment.calendarSeconds
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

    /// The first time on the wall in `range` (seconds) that is open or closed as `wanted`.
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
    /// The members `window` and `quietHours` of a request, each one object or an array; `nil` if neither is there.
    static func parse(_ fields: JSONFields) throws(RequestError) -> SendWindow? {
        let windows = try Self.hours("window", fields)
        let quietHours = try Self.hours("quietHours", fields)
        guard !windows.isEmpty || !quietHours.isEmpty else { return nil }
        guard let window = SendWindow(windows: windows, quietHours: quietHours) else {
            throw fields.refusal(
                quietHours.isEmpty ? "window" : "quietHours",
                "never_open",
                "no hour is left to send in"
            )
        }
        return window
    }

    private static func hours(_ name: String, _ fields: JSONFields) throws(RequestError) -> [DailyHours] {
        var hours: [DailyHours] = []
        for object in try fields.objects(name, count: Self.maximumHours, known: DailyHours.members) {
            hours.append(try DailyHours(object))
        }
        return hours
    }

    /// The members that ``parse(_:)`` reads.
    var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (name, hours) in [("window", self.windows), ("quietHours", self.quietHours)] where !hours.isEmpty {
            members[name] = hours.count == 1 ? hours[0].json : .array(hours.map(\.json))
        }
        return members
    }
}
