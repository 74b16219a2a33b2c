import Foundation
import GRDB

/// A table of the provider's database, with what is decided about its rows.
///
/// ``all`` is the one list of tables. The erasures, the examination of a database and the checks of the master key take from it
/// what they do, and a test fails for a table without an entry.
struct StoredTable: Sendable {
    /// The owner of a table's rows, with which they go.
    enum Owner: Hashable, Sendable {
        /// The provider as a whole: no erasure deletes them.
        case provider
        /// The app that the column `app` names.
        case app(AppRemoval)
        /// The notification that the column `notification` names. Without `isLedger` only one in progress has such rows.
        case notification(isLedger: Bool)
        /// A row of another table, with which the database deletes them.
        case otherRow
    }

    /// The way in which rows go with their app.
    enum AppRemoval: Hashable, Sendable {
        /// With the request for the erasure: they would go on to act. What is written late goes in the steps of the erasure.
        case atOnce
        /// In steps of the erasure, which are bounded.
        case inSteps
        /// By statements of their own in ``AppErasure``.
        case apart
    }

    /// A column that tells whose a row is, by which the erasure of a user finds it.
    enum Trace: Hashable, Sendable {
        /// The columns `app` and `user`: the rows go with the request for the erasure.
        case user
        /// The columns `app` and `holder`, of what is counted.
        case holder
        /// The columns `app` and `installation`: the rows go with a device of the installation.
        case installation
        /// The column `device`: the rows go with the device, also where its id stays for notifications in progress.
        case device
        /// Another column, or another way: a statement of ``UserErasure``, or a trigger of the table of devices.
        case other
    }

    /// The search for rows that cannot be read.
    struct Examination: Sendable {
        /// The words that name a row, each before the value of a column.
        let name: KeyValuePairs<String, String>
        /// The condition on the rows that are examined.
        var condition = "TRUE"
        /// Reads a row, with the key that must open its secrets; `nil` if each row that meets the condition is damaged.
        var read: (@Sendable (Row, MasterKey?) throws -> Void)?

        /// The search for rows from which no record can be read.
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
    /// The search for damage; `nil` where damage is noticed with each use, or harms nothing.
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
    /// The secrets in the plural.
    package let name: String
    /// The step that brings them back.
    package let remedy: String
    var column = "sealed"
    /// Indicates whether the row stays without its secret.
    var keepsRow = false
    /// Indicates whether a person or another system has to bring the secret again. The others are made anew.
    var isLost = true
    /// Returns the context with which the secret of a row is sealed; `nil` for a row that cannot be read. Passwords have none:
    /// they are hashes, with a key that is derived from the master key.
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
