package import Foundation

/// The named audiences and the templates of apps.
package protocol LibraryStore: Sendable {
    /// Returns an item; `nil` if there is none.
    func libraryItem(_ name: LibraryItemName, of kind: LibraryItem.Kind, app: Int64) async throws -> LibraryItem?
    /// Returns a page of the items of a kind in the order in which they were added, beginning after the number `after`. Those that
    /// cannot be read are left out.
    /// - Parameter bytes: The bytes of bodies after which the page ends, also before its limit.
    func libraryItems(
        of kind: LibraryItem.Kind,
        app: Int64,
        after: Int64,
        limit: Int,
        bytes: Int
    ) async throws -> ListPage<LibraryItem>
    /// Returns the names of such items, without reading their contents.
    func libraryNames(of kind: LibraryItem.Kind, app: Int64, after: Int64, limit: Int) async throws -> [LibraryEntry]
    /// Returns items as they are at one moment. Those that do not exist are left out.
    func libraryItems(
        _ names: Set<LibraryItemName>,
        of kind: LibraryItem.Kind,
        app: Int64
    ) async throws -> [LibraryItemName: LibraryItem]
    /// Makes a change. The checks and the write are one transaction.
    func changeLibrary(_ change: LibraryChange, limits: LibraryLimits) async throws -> LibraryChangeResult
    /// Deletes an item that no schedule uses, with its versions.
    /// - Parameter expected: The version that it must have; `nil` for any.
    func deleteLibraryItem(
        _ name: LibraryItemName,
        of kind: LibraryItem.Kind,
        app: Int64,
        expected: Int64?
    ) async throws -> LibraryChangeResult
    /// Returns a page of the kept versions of an item, the newest first, beginning before the version `before`. Those that cannot
    /// be read are left out.
    /// - Parameter bytes: The bytes of bodies after which the page ends, also before its limit.
    func libraryVersions(of item: UUID, before: Int64, limit: Int, bytes: Int) async throws -> ListPage<LibraryVersion>
    /// Returns one version of an item; `nil` if it is not kept.
    func libraryVersion(_ version: Int64, of item: UUID) async throws -> LibraryVersion?
}
