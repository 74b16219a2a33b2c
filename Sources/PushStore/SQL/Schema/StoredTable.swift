import Foundation

/// A table of the provider's database, with the rules for its rows.
///
/// ``all`` is the only list of tables. Erasures, the examination of a database and the checks of the master key are
/// derived from it. A test fails for a table that is not listed.
struct StoredTable: Sendable {
    /// The owner of a table's rows. The rows are deleted together with their owner.
    enum Owner: Hashable, Sendable {
        /// The provider as a whole. No erasure deletes the rows.
        case provider
        /// The app in the column `app`. The associated value is the step of its erasure that deletes the rows.
        case app(AppRemoval)
        /// The notification in the column `notification`. Only one in progress has rows if `isLedger` is `false`.
        case notification(isLedger: Bool)
        /// A row of another table. A foreign key deletes the rows together with that row.
        case otherRow
    }

    /// The step of an app's erasure in which the rows of the app are deleted.
    enum AppRemoval: Hashable, Sendable {
        /// A removal together with the request for the erasure, because the rows would still take effect. Rows that are
        /// written later are deleted in the steps of the erasure.
        case atOnce
        /// A removal in bounded steps of the erasure.
        case inSteps
        /// A removal by separate statements of ``AppErasure``.
        case apart
    }

    /// A column that links rows to a user, by which the erasure of a user finds the rows.
    enum Trace: Hashable, Sendable {
        /// The columns `app` and `user`. The rows are deleted when the erasure is requested.
        case user
        /// The columns `app` and `holder` of a table of counts. The rows are deleted with the user and the devices.
        case holder
        /// The columns `app` and `installation`. The rows are deleted together with a device of the installation.
        case installation
        /// The column `device`. The rows are deleted with the device, even if the device's id is kept for a
        /// notification in progress.
        case device
        /// Another column. A statement of ``UserErasure`` or a trigger on the table of devices deletes the rows.
        case other
    }

    /// The check of a table for rows that cannot be decoded.
    struct Examination: Sendable {
        /// The words that identify a row in a message. Each word is followed by the value of the named column.
        let name: KeyValuePairs<String, String>
        /// The SQL condition on the rows to examine.
        var condition = "TRUE"
        /// A function that decodes a row and opens its secrets, or `nil` if all rows of the condition are damaged.
        var read: (@Sendable (SQLRow, MasterKey?) throws -> Void)?

        /// Returns a check for rows from which a type of record cannot be decoded.
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
    /// The column of secrets that need the master key, or `nil` if there is none.
    let secrets: SealedColumn?
    /// The check for rows that cannot be decoded, or `nil` if the use of a row detects damage or damage is harmless.
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

    static func names(with trace: Trace) -> [String] { Self.all.filter { $0.traces.contains(trace) }.map(\.name) }
}

/// A table's column with secrets that need the master key.
package struct SealedColumn: Sendable {
    /// The plural noun for the secrets in messages, such as *people's passwords*.
    package let name: String
    /// The instruction, for messages, on how to restore lost secrets.
    package let remedy: String
    var column = "sealed"
    /// A Boolean value that indicates whether the row stays when its secret is removed.
    var keepsRow = false
    /// A Boolean value that indicates whether a removed secret has to be supplied again, instead of being created anew.
    var isLost = true
    /// A function that returns the context to which the secret of a row is bound, or `nil` if the row cannot be
    /// decoded. The property is `nil` for passwords, which are hashed with a key that is derived from the master key.
    var context: (@Sendable (SQLRow) -> SecretContext?)?

    /// The column of secrets in a table whose rows have an id and an app.
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
