public import Foundation

/// A place for named values that outlives the process.
///
/// An app and its notification service extension share one, so that each operation counts for both processes at once: a
/// reader sees a value whole, before or after a change. Names have letters, digits, `-`, `.` and `_`, and 200 bytes at most.
public protocol MartletStorage: Sendable {
    /// Returns the names of all values, in any order.
    func names() throws -> [String]
    /// Returns a value; `nil` if there is none of that name.
    func read(_ name: String) throws -> Data?
    /// Sets a value, in place of one of that name.
    func write(_ value: Data, for name: String) throws
    /// Sets a value unless there is one of that name, and returns `true` if it did. Of two processes one gets `true`.
    func insert(_ value: Data, for name: String) throws -> Bool
    /// Removes a value, if there is one of that name.
    func remove(_ name: String) throws
}
