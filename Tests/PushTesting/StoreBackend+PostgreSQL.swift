#if PostgreSQL
import PushStore
import PushSupport

extension StoreBackend {
    /// The store in PostgreSQL, or no store, with a note that tells why.
    static var postgreSQL: [StoreBackend] {
        guard PostgreSQLServer.programs != nil else {
            print("The store in PostgreSQL is not tested: \(PostgreSQLServer.absence)")
            return []
        }
        return [
            StoreBackend(name: "PostgreSQL") { _ in
                let (server, template) = try await Self.template.value
                let name = server.newName()
                try await server.run("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY file_copy")
                let address = server.address(database: name)
                let store = try await SQLStore(postgreSQL: address, masterKey: try .fixture(7), limits: .patient)
                return OpenStore(store) {
                    try await store.close()
                    try await server.run("DROP DATABASE \(name)")
                }
            }
        ]
    }

    /// The shared server, and a database with all tables of a store, which is copied faster than it is made.
    private static let template = Task {
        let server = try await runBlocking { try PostgreSQLServer.shared }
        let name = server.newName()
        try await server.run("CREATE DATABASE \(name)")
        let store = try await SQLStore(postgreSQL: server.address(database: name), masterKey: try .fixture(7))
        try await store.close()
        return (server, name)
    }
}
#endif
