#if PostgreSQL
import Foundation
import Testing

@testable import PushStore

/// The addresses of databases, and the kinds of errors.
@Suite struct PostgreSQLSettingsTests {
    /// Returns the parameters that libpq finds in the connection string of an address.
    private func parameters(_ address: String) throws -> [String: String] {
        let settings = try PostgreSQLSettings(address)
        let parameters = try PostgreSQLSettings.parse(settings.connectionString)
        #expect(parameters == settings.parameters)
        return parameters
    }

    @Test func theServerIsVerifiedUnlessTheAddressIsLocal() throws {
        let far = try self.parameters("postgres://martlet@db1,db2:5433/martlet")
        #expect(far["host"] == "db1,db2")
        #expect(far["sslmode"] == "verify-full")
        #expect(far["target_session_attrs"] == "read-write")
        #expect(far["connect_timeout"] == "5")
        #expect(try self.parameters("host=/run/postgresql")["sslmode"] == "verify-full")
        for host in ["/run/postgresql", "localhost", "127.0.0.1", "::1", "localhost,/tmp"] {
            #expect(try self.parameters("host=\(host) sslmode=disable")["sslmode"] == "disable")
        }
        for address in [
            "postgres://db1/martlet?sslmode=require", "host=localhost,db1 sslmode=disable",
            "host=localhost hostaddr=10.0.0.1 sslmode=prefer", "service=martlet sslmode=allow",
            "host=db1 hostaddr='' sslmode=disable", "host=,db1 sslmode=disable", "host=db1,localhost sslmode=disable",
            "host=db1,db2 hostaddr=127.0.0.1, sslmode=disable", "host=db1 hostaddr=, sslmode=disable",
        ] {
            #expect(throws: PostgreSQLAddressError.self) { try PostgreSQLSettings(address) }
        }
    }

    @Test(arguments: [
        "postgres://martlet:secret-1@localhost/martlet", "postgresql://localhost/martlet?password=secret-1",
        "host=localhost password=secret-1", "host=localhost password='secret-1", "postgres://a:secret-1@[::1/b",
        "postgres://a:secret-1%zz@localhost/b", "host=localhost sslpassword=secret-1", "secret-1",
        "host=localhost unknown=secret-1", "host=localhost passfile=/nonexistent/file password=secret-1",
    ])
    func aPasswordIsRefusedAndNotRepeated(address: String) throws {
        let error = #expect(throws: PostgreSQLAddressError.self) { try PostgreSQLSettings(address) }
        #expect(error?.description.contains("secret-1") == false)
    }

    /// libpq takes an empty password for the only one, and looks into the file, but takes none for that in PGPASSWORD.
    @Test(arguments: ["host=localhost", "host=localhost password=", "postgres://a:@localhost/b?password="])
    func noPasswordComesFromTheEnvironment(address: String) throws {
        #expect(try self.parameters(address)["password"] == nil)
        #expect(try PostgreSQLSettings(address).connectionString.contains("password=''"))
    }

    @Test func anEmptyValueIsNone() throws {
        #expect(try self.parameters("host=db1 sslmode='' passfile=")["sslmode"] == "verify-full")
        #expect(try self.parameters("host=db1 hostaddr=''")["hostaddr"] == nil)
    }

    @Test func everyValueArrives() throws {
        let parameters = try self.parameters(#"host='/tmp/it\'s \\ here' application_name='a=b\\' dbname=postgres://c"#)
        #expect(parameters["host"] == #"/tmp/it's \ here"#)
        #expect(parameters["application_name"] == #"a=b\"#)
        #expect(parameters["dbname"] == "postgres://c")
    }

    @Test func aPasswordFileHasToBeReadable() throws {
        let missing = "/nonexistent/pgpass"
        let error = #expect(throws: PostgreSQLAddressError.self) {
            try PostgreSQLSettings("postgres://db1/martlet?passfile=\(missing)")
        }
        #expect(error?.description.contains(missing) == true)
        #expect(try self.parameters("postgres://db1/martlet?passfile=/dev/null")["passfile"] == "/dev/null")
    }

    @Test func aDescriptionNamesTheServerOnly() throws {
        let settings = try PostgreSQLSettings("postgres://someone@db1,db2/store")
        #expect("\(settings)" == "PostgreSQL at db1, db2, database store")
    }

    /// No server answers at a socket that does not exist.
    @Test func aServerThatCannotBeReachedIsUnavailable() throws {
        let settings = try PostgreSQLSettings("host=/nonexistent user=someone sslmode=disable")
        let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLConnection(settings) }
        #expect(error?.kind == .unavailable)
        #expect(error?.isCommitUnknown == false)
    }

    @Test(
        arguments: [
            (nil, nil, .unavailable), ("57P01", "FATAL", .unavailable), ("57P02", "ERROR", .unavailable),
            ("25P03", "FATAL", .unavailable), ("23505", "PANIC", .unavailable), ("08006", "ERROR", .unavailable),
            ("53300", "FATAL", .unavailable), ("53300", "ERROR", .unavailable), ("40001", "ERROR", .serialization),
            ("40P01", "ERROR", .serialization), ("55P03", "ERROR", .serialization), ("57014", "ERROR", .timeout),
            ("25006", "ERROR", .readOnly), ("53100", "ERROR", .cannotWrite), ("58030", "ERROR", .cannotWrite),
            ("23503", "ERROR", .foreignKey), ("23505", "ERROR", .unique), ("22012", "ERROR", .other),
            ("42601", "ERROR", .other), ("", nil, .other),
        ] as [(String?, String?, PostgreSQLError.Kind)]
    )
    func anErrorHasAKind(state: String?, severity: String?, kind: PostgreSQLError.Kind) {
        #expect(PostgreSQLError.kind(state: state, severity: severity) == kind)
    }
}
#endif
