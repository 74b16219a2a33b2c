package import Foundation
package import PushTypes

/// Recurring notifications.
package protocol ScheduleStore: Sendable {
    /// Adds it, unless the app has as many or as much as it may. Checked and written in one transaction.
    func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult
    /// Oldest first, those after `cursor`. Those that cannot be read are left out.
    /// - Parameter longestRequest: requests of more bytes are left out of the entries.
    func schedules(
        app: Int64,
        after cursor: ScheduleCursor?,
        limit: Int,
        longestRequest: Int
    ) async throws -> SchedulePage
    func schedule(_ id: UUID) async throws -> ScheduleRecord?
    /// Writes what people decide, and nothing else.
    func changeSchedule(
        _ id: UUID,
        _ change: ScheduleChange,
        limits: ScheduleLimits
    ) async throws -> ScheduleChangeResult
    /// Writes that the run at `from` is done, and nothing else. Without effect if that is not the next run any more:
    /// the schedule was changed meanwhile.
    func advanceSchedule(_ id: UUID, from: Timestamp, to next: Timestamp?, lastRunAt: Timestamp?) async throws
    func deleteSchedule(_ id: UUID) async throws -> Bool
    /// In the order of their runs, and the ids of those that cannot be read, as they are stored: these are paused with
    /// this, because they would stand in the way of all others.
    /// - Parameter excluded: apps whose schedules are left out.
    func dueSchedules(
        now: Timestamp,
        limit: Int,
        excluding excluded: Set<Int64>
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String])
    /// The next run of a schedule of an app that is not excluded.
    func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp?
}

extension ScheduleStore {
    /// As ``addSchedule(_:limits:)``, with the default limits.
    @discardableResult
    package func addSchedule(_ schedule: ScheduleRecord) async throws -> ScheduleChangeResult {
        try await self.addSchedule(schedule, limits: ScheduleLimits())
    }

    /// As ``changeSchedule(_:_:limits:)``, with the default limits.
    @discardableResult
    package func changeSchedule(_ id: UUID, _ change: ScheduleChange) async throws -> ScheduleChangeResult {
        try await self.changeSchedule(id, change, limits: ScheduleLimits())
    }

    /// As ``dueSchedules(now:limit:excluding:)``, of all apps.
    package func dueSchedules(
        now: Timestamp,
        limit: Int
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String]) {
        try await self.dueSchedules(now: now, limit: limit, excluding: [])
    }

    /// As ``nextScheduleRun(excluding:)``, of all apps.
    package func nextScheduleRun() async throws -> Timestamp? { try await self.nextScheduleRun(excluding: []) }
}

/// The schedules that an app may have.
package struct ScheduleLimits: Hashable, Sendable {
    /// Schedules of one app. Default 1,000.
    package var count = 1000
    /// Requests of one app's schedules together, in bytes. Default 16 MB.
    package var bytes = 16 * 1024 * 1024

    package init() {}
}

/// A change of a schedule by a person.
package enum ScheduleChange: Hashable, Sendable {
    /// Replaces the name, the request and the rule. A pause and the last run stay.
    case replace(name: String, request: Data, rule: Data, nextRunAt: Timestamp?)
    /// - Parameter version: only if the schedule still has this version; `nil` pauses it whatever it has become.
    case pause(version: Int64?)
    /// - Parameters:
    ///   - nextRunAt: computed from the rule of a record.
    ///   - version: the version of that record. Another version makes no change.
    case resume(nextRunAt: Timestamp?, version: Int64)
}

/// The answer to a change of a schedule, or to a new one.
package enum ScheduleChangeResult: Hashable, Sendable {
    /// The record after the change.
    case changed(ScheduleRecord)
    case missing
    /// It has another version than the change was made for.
    case stale
    /// The app has as many as it may.
    case tooMany
    /// The requests of the app's schedules would be larger together than they may.
    case tooLarge
}

/// The place in a list of schedules where the next page begins.
package struct ScheduleCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

/// A part of an app's schedules.
package struct SchedulePage: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        /// Its request is empty if ``requestBytes`` are more than was asked for.
        package var schedule: ScheduleRecord
        /// The size of the request as it is stored.
        package var requestBytes: Int

        package init(schedule: ScheduleRecord, requestBytes: Int) {
            self.schedule = schedule
            self.requestBytes = requestBytes
        }
    }

    package var entries: [Entry]
    /// `nil` at the end of the list.
    package var next: ScheduleCursor?

    package init(entries: [Entry], next: ScheduleCursor?) {
        self.entries = entries
        self.next = next
    }
}
