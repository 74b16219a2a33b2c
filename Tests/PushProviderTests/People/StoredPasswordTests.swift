import Dispatch
import NIOPosix
import PushSupport
import PushTesting
import Testing

@testable import PushProvider

/// Stored passwords.
@Suite(.timeLimit(.patience)) struct StoredPasswordTests {
    private static let cheap = StoredPassword.Parameters(logarithm: 4, blockSize: 8, parallelism: 1)

    private static func check(
        _ hasher: PasswordHasher,
        _ password: String,
        _ stored: String?
    ) async throws -> PasswordHasher.Verdict {
        try await hasher.admitted(.known(.app)) { try await $0.check(password, stored) }
    }

    /// The password, the salt and the parameters are those of the third vector of RFC 7914 section 12; Python's `hashlib` and
    /// `hmac` have made the text.
    @Test func aHashOfAnotherImplementationIsRead() throws {
        let text = "$scrypt-hmac$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$gw4oUC5RcYa5sXAweoLVr0fgExP0nONzw0PARW6YarE"
        let hash = try #require(StoredPassword(text: text))
        #expect(hash.text == text)
        #expect(try hash.matches("pleaseletmein", secret: "secret"))
        #expect(try !hash.matches("pleaseletmeim", secret: "secret"))
    }

    /// Without the master key the database is of no use for trying passwords.
    @Test func aHashIsWorthNothingWithoutItsSecret() throws {
        let hash = try StoredPassword("correct horse battery", Self.cheap, secret: "secret")
        #expect(try hash.matches("correct horse battery", secret: "secret"))
        #expect(try !hash.matches("correct horse battery", secret: "other"))
        #expect(try !hash.matches("correct horse battery", secret: ""))
    }

    @Test func onlyThePasswordItselfMatches() throws {
        let stored = try StoredPassword("correct horse battery", Self.cheap, secret: "secret").text
        #expect(stored.hasPrefix("$scrypt-hmac$ln=4,r=8,p=1$"))
        let hash = try #require(StoredPassword(text: stored))
        #expect(try hash.matches("correct horse battery", secret: "secret"))
        for other in ["", "correct horse batter", "correct horse battery ", "Correct horse battery", "\0"] {
            #expect(try !hash.matches(other, secret: "secret"), "\(other)")
        }
        let again = try StoredPassword("correct horse battery", Self.cheap, secret: "secret").text
        #expect(stored != again, "each has a salt of its own")
    }

    /// The same characters, typed in another way.
    @Test func composedAndDecomposedCharactersAreTheSame() throws {
        let hash = try StoredPassword("caf\u{e9} au lait \u{fb01}n", Self.cheap, secret: "secret")
        #expect(try hash.matches("cafe\u{301} au lait fin", secret: "secret"))
    }

    @Test(arguments: [
        "", "$", "scrypt", "$scrypt-hmac$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2$ln=4,r=8,p=1$AAAAAAAAAAAAAAAA$AAAA",
        "$scrypt-hmac$ln=63,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt-hmac$ln=-1,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt-hmac$ln=4,r=8000000,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt-hmac$ln=4,r=8,p=1$$", "$scrypt-hmac$ln=4,r=8,p=1$!!$??",
        "$scrypt-hmac$p=1,r=8,ln=4$AAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAA",
    ])
    func whatIsNoHashIsNotRead(text: String) { #expect(StoredPassword(text: text) == nil) }

    @Test func aHashWithOtherParametersIsRenewed() async throws {
        let old = try StoredPassword(
            "correct horse battery",
            .init(logarithm: 3, blockSize: 8, parallelism: 1),
            secret: "secret"
        ).text
        let hasher = PasswordHasher(
            Self.cheap,
            secret: "secret",
            places: Budget(.hashes),
            strangersPlaces: Budget(.strangerHashes)
        )
        #expect(try await Self.check(hasher, "wrong", old) == .wrong)
        guard case .outdated(let renewed) = try await Self.check(hasher, "correct horse battery", old) else {
            Issue.record("it has the parameters of new ones")
            return
        }
        #expect(try await Self.check(hasher, "correct horse battery", renewed) == .right)
        #expect(try await Self.check(hasher, "correct horse battery", nil) == .wrong)
        #expect(try await Self.check(hasher, "correct horse battery", "damaged") == .wrong)
    }

    /// Each hash takes memory: few wait, and further ones are refused at once.
    @Test(.timeLimit(.patience)) func moreThanSomeAtOnceAreRefused() async throws {
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let parameters = StoredPassword.Parameters(logarithm: 1, blockSize: 8, parallelism: 1)
        let strangers = Budget.patient(.strangerHashes)
        let hasher = PasswordHasher(
            parameters,
            secret: "secret",
            places: Budget(.hashes),
            strangersPlaces: strangers,
            threads: threads,
            strangersThreads: threads
        )
        func hash(_ network: UInt8) async throws -> String {
            try await hasher.hash("correct horse battery", for: .stranger(.network([192, 0, 2, network])))
        }
        // The thread is taken, so that no hash ends.
        let gate = DispatchSemaphore(value: 0)
        threads.submit { _ in gate.wait() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for network in 0..<15 { group.addTask { _ = try await hash(UInt8(network)) } }
            try await eventually { strangers.usage == (1, 14) }
            let refused = await #expect(throws: RetryLaterError.self) { try await hash(99) }
            #expect(refused?.error.kind == .rateLimited && refused?.error.code == "busy")
            gate.signal()
            try await group.waitForAll()
        }
        #expect(try await Self.check(hasher, "x", nil) == .wrong, "later ones are served again")
        try await threads.shutdownGracefully()
    }
}
