package import Foundation
package import ProviderModel
package import PushTypes

/// The recurring notifications.
package protocol ScheduleStore: Sendable {
    /// Adds a schedule unless it would exceed the app's limits. The check and the write are one transaction.
    func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult
    /// Returns schedules, oldest first, beginning after `cursor`. Schedules that cannot be read are left out.
    /// - Parameter longestRequest: The maximum length of a request, in bytes. Longer ones are left out of their entries.
    func schedules(
        app: Int64,
        after cursor: ScheduleCursor?,
        limit: Int,
        longestRequest: Int
    ) async throws -> ScheduleList
    /// Returns a schedule; `nil` if there is none.
    func schedule(_ id: UUID) async throws -> ScheduleRecord?
    /// Returns the app of a schedule, even if the schedule cannot be read; `nil` if there is none.
    func app(ofSchedule id: UUID) async throws -> AppRecord?
    /// Writes the columns that a person's change concerns. A schedule that cannot be read can be replaced.
    func changeSchedule(
        _ id: UUID,
        _ change: ScheduleChange,
        limits: ScheduleLimits
    ) async throws -> ScheduleChangeResult
    /// Records that the run at `from` is done. It has no effect if that is not the next run any more, because the schedule
    /// was changed meanwhile.
    /// - Parameter from: The previous next run; `nil` to continue a schedule that has ended.
    func advanceSchedule(_ id: UUID, from: Timestamp?, to next: Timestamp?, lastRunAt: Timestamp?) async throws
    /// Records the problem of the latest runs of a schedule. A text that is too long is truncated.
    func setProblem(_ problem: ScheduleProblem, ofSchedule id: UUID) async throws
    /// Removes the problem of a schedule, if it was recorded before a time.
    func clearProblem(ofSchedule id: UUID, notedBefore time: Timestamp) async throws
    /// Returns the schedules of some apps that have a problem, latest problem first.
    func schedulesWithProblems(apps: [Int64], limit: Int) async throws -> [ScheduleRecord]
    /// Deletes a schedule.
    /// - Returns: `true` if there was one.
    func deleteSchedule(_ id: UUID) async throws -> Bool
    /// Returns the due schedules in the order of their runs. Schedules that cannot be read are paused.
    /// - Parameter excluded: The apps whose schedules are left out.
    /// - Returns: The schedules, and the stored ids of those that cannot be read.
    func dueSchedules(
        now: Timestamp,
        limit: Int,
        excluding excluded: Set<Int64>
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String])
    /// Returns the time of the next run of any schedule whose app is not excluded.
    func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp?
}

/// The limits on the schedules of one app.
package struct ScheduleLimits: Hashable, Sendable {
    /// The maximum number of schedules. Default 1,000.
    package var count = 1000
    /// The maximum size of the requests of all schedules together, in bytes. Default 16 MB.
    package var bytes = 16 * 1024 * 1024

    package init() {}
}

/// A change of a schedule by a person.
package enum ScheduleChange: Hashable, Sendable {
    /// Replaces the name, the request, the rule and the key. The pause and the time of the last run stay.
    case replace(
        name: String,
        request: Data,
        rule: RecurringSchedule,
        nextRunAt: Timestamp?,
        key: KeyReference? = nil,
        uses: Set<LibraryUse> = []
    )
    /// Pauses the schedule.
    /// - Parameter version: The version that the schedule must still have; `nil` pauses it in any version.
    case pause(version: Int64?)
    /// Resumes the schedule.
    /// - Parameters:
    ///   - nextRunAt: The time of the next run, computed from the rule of a record that was read before.
    ///   - version: The version of that record. If the schedule has another version, nothing is changed.
    case resume(nextRunAt: Timestamp?, version: Int64)
}

/// The result of a change of a schedule, or of adding one.
package enum ScheduleChangeResult: Hashable, Sendable {
    /// The record after the change.
    case changed(ScheduleRecord)
    case missing
    /// The schedule does not have the expected version.
    case stale
    /// The app has reached the maximum number of schedules.
    case tooMany
    /// The requests of the app's schedules would exceed the maximum size.
    case tooLarge
    /// An audience or a template that the request names was deleted meanwhile.
    case missingUse
}

/// The place in a list of schedules where the next page begins.
package struct ScheduleCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) { self.number = number }
}

/// A page of the list of an app's schedules.
package struct ScheduleList: Hashable, Sendable {
    /// A schedule in a list.
    package struct Entry: Hashable, Sendable {
        /// The schedule, with an empty request if ``requestBytes`` exceed the longest request that the caller accepts.
        package var schedule: ScheduleRecord
        /// The size of the request as it is stored.
        package var requestBytes: Int
    }

    package var entries: [Entry]
    /// The place of the next page; `nil` at the end of the list.
    package var next: ScheduleCursor?
}

/// The named audiences and the templates of apps.
package protocol LibraryStore: Sendable {
    /// Returns an item; `nil` if there is none.
    func libraryItem(_ name: LibraryItemName, of kind: LibraryItem.Kind, app: Int64) async throws -> LibraryItem?
    /// Returns a page of the items of a kind in the order in which they were added, beginning after the number `after`. Items
    /// that cannot be read are left out.
    /// - Parameter bytes: The size of bodies after which the page ends before its limit, in bytes.
    func libraryItems(
        of kind: LibraryItem.Kind,
        app: Int64,
        after: Int64,
        limit: Int,
        bytes: Int
    ) async throws -> ListPage<LibraryItem>
    /// Returns the names of a page of items, without reading their contents.
    func libraryNames(of kind: LibraryItem.Kind, app: Int64, after: Int64, limit: Int) async throws -> [LibraryEntry]
    /// Returns items, read in one snapshot. Items that do not exist are left out.
    func libraryItems(
        _ names: Set<LibraryItemName>,
        of kind: LibraryItem.Kind,
        app: Int64
    ) async throws -> [LibraryItemName: LibraryItem]
    /// Checks and applies a change in one transaction.
    func changeLibrary(_ change: LibraryChange, limits: LibraryLimits) async throws -> LibraryChangeResult
    /// Deletes an item with its versions, unless a schedule uses it.
    /// - Parameter expected: The version that the item must have; `nil` for any.
    func deleteLibraryItem(
        _ name: LibraryItemName,
        of kind: LibraryItem.Kind,
        app: Int64,
        expected: Int64?
    ) async throws -> LibraryChangeResult
    /// Returns a page of the kept versions of an item, newest first, beginning before the version `before`. Versions that
    /// cannot be read are left out.
    /// - Parameter bytes: The size of bodies after which the page ends before its limit, in bytes.
    func libraryVersions(of item: UUID, before: Int64, limit: Int, bytes: Int) async throws -> ListPage<LibraryVersion>
    /// Returns one version of an item; `nil` if it is not kept.
    func libraryVersion(_ version: Int64, of item: UUID) async throws -> LibraryVersion?
}
