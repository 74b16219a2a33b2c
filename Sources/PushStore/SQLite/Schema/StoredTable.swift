import Foundation
import GRDB

/// A table of the provider's database, with the rules for its rows.
///
/// ``all`` is the only list of tables. Erasures, the examination of a database and the checks of the master key are
/// derived from it, and a test fails for a table without an entry.
struct StoredTable: Sendable {
    /// The owner of a table's rows, with which they are deleted.
    enum Owner: Hashable, Sendable {
        /// The provider as a whole. No erasure deletes the rows.
        case provider
        /// The app that the column `app` names.
        case app(AppRemoval)
        /// The notification that the column `notification` names. Without `isLedger` only notifications in progress have such
        /// rows.
        case notification(isLedger: Bool)
        /// A row of another table, with which the database deletes the rows by a foreign key.
        case otherRow
    }

    /// The way in which rows are deleted with their app.
    enum AppRemoval: Hashable, Sendable {
        /// The rows are deleted with the request for the erasure, because they would still have effects. Rows that are
        /// written later are deleted in the steps of the erasure.
        case atOnce
        /// The rows are deleted in bounded steps of the erasure.
        case inSteps
        /// The rows are deleted by separate statements of ``AppErasure``.
        case apart
    }

    /// A column that connects a row with a user, by which the erasure of the user finds it.
    enum Trace: Hashable, Sendable {
        /// The columns `app` and `user`. The rows are deleted with the request for the erasure.
        case user
        /// The columns `app` and `holder` of counts.
        case holder
        /// The columns `app` and `installation`. The rows are deleted with a device of the installation.
        case installation
        /// The column `device`. The rows are deleted with the device, even if its id is kept for notifications in progress.
        case device
        /// Another column. The rows are deleted by a statement of ``UserErasure``, or a trigger of the table of devices.
        case other
    }

    /// The check of a table for rows that cannot be read.
    struct Examination: Sendable {
        /// The words that identify a row in a message, each followed by the value of a column.
        let name: KeyValuePairs<String, String>
        /// The condition on the rows that are examined.
        var condition = "TRUE"
        /// Reads a row, with the key that must open its secrets; `nil` if every row that meets the condition is damaged.
        var read: (@Sendable (Row, MasterKey?) throws -> Void)?

        /// Returns a check for rows from which no record of a type can be read.
        static func reading<Record: StoredRecord>(
            _ type: Record.Type,
            _ name: KeyValuePairs<String, String>,
            where condition: String = "TRUE"
        ) -> Examination {
            Examination(name: name, condition: condition) { _ = try Record(row: $0, $1) }
        }
    }

    let name: String
    let owner: Owner
    let traces: [Trace]
    /// The secrets that need the master key; `nil` for none.
    let secrets: SealedColumn?
    /// The check for rows that cannot be read; `nil` if damage is noticed with each use, or is harmless.
    let examination: Examination?

    init(
        _ name: String,
        _ owner: Owner,
        _ traces: Trace...,
        secrets: SealedColumn? = nil,
        examination: Examination? = nil
    ) {
        (self.name, self.owner, self.traces) = (name, owner, traces)
        (self.secrets, self.examination) = (secrets, examination)
    }

    /// Returns the names of the tables with a trace of users.
    static func names(with trace: Trace) -> [String] { Self.all.filter { $0.traces.contains(trace) }.map(\.name) }
}

/// The column of a table that holds secrets which need the master key.
package struct SealedColumn: Sendable {
    /// The plural noun for the secrets in messages, such as *people's passwords*.
    package let name: String
    /// The instruction for restoring the secrets, for messages.
    package let remedy: String
    var column = "sealed"
    /// Indicates whether the row stays without its secret.
    var keepsRow = false
    /// Indicates whether a person or another system has to provide the secret again. Other secrets are created again.
    var isLost = true
    /// Returns the context with which the secret of a row is sealed; `nil` for a row that cannot be read. Passwords have
    /// none, because they are hashes, keyed with a key that is derived from the master key.
    var context: (@Sendable (Row) -> SecretContext?)?

    /// The secrets of rows that have an id and an app.
    static func byID(
        _ name: String,
        remedy: String,
        keepsRow: Bool = false,
        _ context: @escaping @Sendable (UUID, Int64) -> SecretContext
    ) -> SealedColumn {
        SealedColumn(name: name, remedy: remedy, keepsRow: keepsRow) { row in
            guard let id = row.uuid("id"), let app = row["app"] as Int64? else { return nil }
            return context(id, app)
        }
    }
}
