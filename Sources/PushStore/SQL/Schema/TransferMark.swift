/// The table that only the target of an unfinished transfer between engines has, with the progress of the transfer
/// (`martlet migrate`). No store opens such a database.
enum TransferMark {
    static let table = "transferProgress"

    /// Checks that no transfer to a database is unfinished.
    /// - Throws: ``StoreError/cannotOpen(path:why:)``.
    static func check(_ database: any SQLConnection, path: String) throws {
        guard try database.hasTable(Self.table) else { return }
        let why = "it is an unfinished copy: repeat the 'martlet migrate' that makes it, which continues where it was"
        throw StoreError.cannotOpen(path: path, why: why)
    }
}
