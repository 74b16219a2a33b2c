package import Foundation
package import ProviderModel
package import PushTypes

/// The store of schedules, which send recurring notifications.
package protocol ScheduleStore: Sendable {
    /// Adds a schedule, unless it would exceed the app's limits. The check and the write are one transaction.
    func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult
    /// Returns schedules of an app, oldest first, beginning after `cursor` or, with `nil`, with the first. Schedules
    /// that cannot be read are left out.
    /// - Parameter longestRequest: The maximum length of a returned request, in bytes. Longer requests are left empty.
    func schedules(
        app: Int64,
        after cursor: ScheduleCursor?,
        limit: Int,
        longestRequest: Int
    ) async throws -> ScheduleList
    /// Returns the schedule with this id, or `nil` if there is none.
    func schedule(_ id: UUID) async throws -> ScheduleRecord?
    /// Returns the app of a schedule, even if the schedule cannot be read, or `nil` if there is no such schedule.
    func app(ofSchedule id: UUID) async throws -> AppRecord?
    /// Applies a change that a person has requested. Even a schedule that cannot be read can be replaced.
    func changeSchedule(
        _ id: UUID,
        _ change: ScheduleChange,
        limits: ScheduleLimits
    ) async throws -> ScheduleChangeResult
    /// Records that the run at `from` is done. It has no effect if the schedule was changed meanwhile, so that its next
    /// run is another one.
    /// - Parameters:
    ///   - from: The expected time of the next run, or `nil` to continue a schedule that has ended.
    ///   - next: The time of the run after it, or `nil` if there is none.
    ///   - lastRunAt: The time of the latest run that was made, or `nil` if none was made yet.
    func advanceSchedule(_ id: UUID, from: Timestamp?, to next: Timestamp?, lastRunAt: Timestamp?) async throws
    /// Records the problem of a schedule's latest runs. A text of more than 500 characters is truncated.
    func setProblem(_ problem: ScheduleProblem, ofSchedule id: UUID) async throws
    /// Removes the problem of a schedule, if it was recorded before the given time.
    func clearProblem(ofSchedule id: UUID, notedBefore time: Timestamp) async throws
    /// Returns the schedules with a problem, among those of the given apps, latest problem first.
    func schedulesWithProblems(apps: [Int64], limit: Int) async throws -> [ScheduleRecord]
    /// Deletes a schedule.
    /// - Returns: Whether there was a schedule with this id.
    func deleteSchedule(_ id: UUID) async throws -> Bool
    /// Returns the schedules whose runs are due, in the order of the runs. Schedules that cannot be read are paused.
    /// - Parameter excluded: The apps whose schedules are left out.
    /// - Returns: The schedules, and the stored ids of the schedules that cannot be read.
    func dueSchedules(
        now: Timestamp,
        limit: Int,
        excluding excluded: Set<Int64>
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String])
    /// Returns the earliest time of a next run of the schedules of apps not excluded, or `nil` if there is none.
    func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp?
}

/// A change of a schedule, requested by a person.
package enum ScheduleChange: Hashable, Sendable {
    /// A change that replaces the name, the request, the rule, the time of the next run (`nil` for none), the API key
    /// of the last change (`nil` if unknown) and the library items in use. The paused state and the time of the last
    /// run stay.
    case replace(
        name: String,
        request: Data,
        rule: RecurringSchedule,
        nextRunAt: Timestamp?,
        key: KeyReference? = nil,
        uses: Set<LibraryUse> = []
    )
    /// A change that pauses the schedule.
    /// - Parameter version: The version that the schedule must have, or `nil` to pause it in any version.
    case pause(version: Int64?)
    /// A change that resumes the schedule.
    /// - Parameters:
    ///   - nextRunAt: The time of the next run, computed from the rule of the record that was read, or `nil` if it has
    ///     no further run.
    ///   - version: The version of that record. If the schedule now has another version, nothing is changed.
    case resume(nextRunAt: Timestamp?, version: Int64)
}

/// The result of changing or adding a schedule.
package enum ScheduleChangeResult: Hashable, Sendable {
    /// A result with the record as it is after the change.
    case changed(ScheduleRecord)
    case missing
    /// A refusal because the schedule does not have the expected version.
    case stale
    /// A refusal because the app already has the maximum number of schedules.
    case tooMany
    /// A refusal because the requests of the app's schedules would exceed the maximum total size.
    case tooLarge
    /// A refusal because a named audience or a template to which the request refers was deleted.
    case missingUse
}

/// The position in a list of schedules after which the next page begins.
package struct ScheduleCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) { self.number = number }
}

/// A page of the list of an app's schedules.
package struct ScheduleList: Hashable, Sendable {
    /// An entry of the list: a schedule, whose request may be left out, and the length of the request.
    package struct Entry: Hashable, Sendable {
        /// The schedule. Its request is empty if ``requestBytes`` exceed the maximum length that the caller has given.
        package var schedule: ScheduleRecord
        /// The length of the stored request, in bytes.
        package var requestBytes: Int
    }

    package var entries: [Entry]
    /// The position after which the next page begins, or `nil` at the end of the list.
    package var next: ScheduleCursor?
}

/// The store of apps' named audiences and templates, the library items.
package protocol LibraryStore: Sendable {
    /// Returns the item with this name, or `nil` if there is none.
    func libraryItem(_ name: LibraryItemName, of kind: LibraryItem.Kind, app: Int64) async throws -> LibraryItem?
    /// Returns a page of the items of a kind in the order of their addition, beginning after the number `after`. Items
    /// that cannot be read are left out.
    /// - Parameter bytes: The total size of bodies, in bytes, at which the page ends even before `limit`.
    func libraryItems(
        of kind: LibraryItem.Kind,
        app: Int64,
        after: Int64,
        limit: Int,
        bytes: Int
    ) async throws -> ListPage<LibraryItem>
    /// Returns the names of a page of items, beginning after the number `after`, without reading their contents.
    func libraryNames(of kind: LibraryItem.Kind, app: Int64, after: Int64, limit: Int) async throws -> [LibraryEntry]
    /// Returns the items with the given names, read in one snapshot. Names without an item are left out.
    func libraryItems(
        _ names: Set<LibraryItemName>,
        of kind: LibraryItem.Kind,
        app: Int64
    ) async throws -> [LibraryItemName: LibraryItem]
    /// Applies a change in one transaction, or returns the reason for refusing it.
    func changeLibrary(_ change: LibraryChange, limits: LibraryLimits) async throws -> LibraryChangeResult
    /// Deletes an item and its versions, unless a schedule uses the item.
    /// - Parameter expected: The version that the item must have, or `nil` for any version.
    func deleteLibraryItem(
        _ name: LibraryItemName,
        of kind: LibraryItem.Kind,
        app: Int64,
        expected: Int64?
    ) async throws -> LibraryChangeResult
    /// Returns a page of the kept versions of an item, newest first, beginning before the version `before`. Versions
    /// that cannot be read are left out.
    /// - Parameter bytes: The total size of bodies, in bytes, at which the page ends even before `limit`.
    func libraryVersions(of item: UUID, before: Int64, limit: Int, bytes: Int) async throws -> ListPage<LibraryVersion>
    /// Returns one version of an item, or `nil` if it does not exist or is no longer kept.
    func libraryVersion(_ version: Int64, of item: UUID) async throws -> LibraryVersion?
}
