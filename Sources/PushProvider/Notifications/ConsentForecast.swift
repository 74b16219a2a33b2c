package import Foundation
package import PushStore
package import PushTypes

/// The numbers of recipients that would be skipped, for each reason.
package struct ConsentForecast: Hashable, Sendable {
    package var counts: [SkipReason: Int] = [:]

    /// - Parameter start: Returns the time at which devices in a time zone are sent to; `nil` for those that are left out.
    package init(_ groups: [ConsentGroup], start: (TimeZone?) -> Timestamp?) {
        var starts: [String?: Timestamp?] = [:]
        var decisions: [Timestamp: ConsentDecision] = [:]
        for group in groups {
            let known = starts[group.timeZone]
            let found = known ?? start(group.timeZone.flatMap { TimeZone(named: $0) })
            if known == nil { starts[group.timeZone] = .some(found) }
            guard let time = found else { continue }
            let reason = decisions[time, default: ConsentDecision(at: time)]
                .reason(group.consent, timeZone: group.timeZone)
            guard let reason = reason ?? (group.isCapReached ? .capReached : nil) else { continue }
            self.counts[reason, default: 0] += group.count
        }
    }
}
