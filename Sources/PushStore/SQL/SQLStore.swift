import Foundation
import ProviderModel
import PushSupport
import Synchronization

/// The store of one process, in an SQL database.
package final class SQLStore: ProviderStore {
    let database: any StoreDatabase
    let masterKey: MasterKey
    let owner = LeaseOwner()
    let pageWriter = PageWriter()
    let pageReader = PageReader()
    /// The number of changes of bridges since the process started, including additions and erasures of apps.
    let bridgeChanges = Atomic(0)
    /// The numbers of changes at the last call of ``readChanges()``.
    let changes = Mutex<[StoreChange: Int64]>([:])

    init(database: any StoreDatabase, masterKey: MasterKey) {
        (self.database, self.masterKey) = (database, masterKey)
    }

    /// Interrupts running long queries and rejects new ones, with ``StoreError/ending``. It is called after the service
    /// has stopped and before ``close()``.
    package func endQueries() { self.database.endQueries() }

    package func close() async throws { try await self.database.close() }

    /// The number of running long queries, and the number of those that wait in the queue.
    package var queryCounts: (running: Int, waiting: Int) { self.database.queryCounts }
}

/// The number that identifies this process as the owner of leases. Each start of the process gets a new number.
final class LeaseOwner: Sendable {
    private let known = Mutex<Int64?>(nil)

    /// Returns the number. It is on disk before it is first used.
    func number(_ database: any StoreDatabase) async throws -> Int64 {
        if let number = self.known.withLock({ $0 }) { return number }
        let isShared = database.isShared
        let added = try await database.write { database in
            // Numbers are never reused. Earlier owners of a store of one process are kept only while they have leases.
            if !isShared { try database.run(sql: "DELETE FROM node WHERE id NOT IN (SELECT owner FROM lease)") }
            return try database.insert(
                into: "node",
                ["startedAt": Int64(Date.now.timeIntervalSince1970 * 1000)],
                returning: "id"
            )
        }
        return self.known.withLock { known in
            let number = known ?? added
            known = number
            return number
        }
    }

    func set(_ number: Int64) { self.known.withLock { $0 = number } }
}
