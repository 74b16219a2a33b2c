import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The choice of the app, and what becomes of each device.
@Suite struct MatrixTranslatorTests {
    private static func notification(_ appID: String, _ pushkey: String = MatrixVectors.tokenA) throws
        -> MatrixNotification
    {
        let device: [String: JSONValue] = ["app_id": .string(appID), "pushkey": .string(pushkey)]
        return try MatrixVectors.notification(MatrixVectors.body(["event_id": "$e"], device: device))
    }

    @Test(arguments: [
        ("com.example.*", "com.example.MyApp", true), ("com.example.*", "com.example.", true), ("*", "", true),
        ("com.example.?", "com.example.ä", true), ("com.example.?", "com.example.", false),
        ("*.prod", "a.prod.prod", true),
        ("*.prod", "a.prod.dev", false), ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false), ("a?c*", "abc", true),
        ("**", "x", true), ("com.example.*", "org.example.x", false), ("a.c*", "abc", false),
    ])
    func patternsMatchWholeNames(pattern: String, name: String, matches: Bool) throws {
        let glob = try #require(GlobPattern(pattern))
        #expect(glob.matches(Array(name.unicodeScalars)) == matches)
    }

    @Test func aNameIsNoPattern() {
        #expect(GlobPattern("com.example.MyApp") == nil)
        #expect(GlobPattern("") == nil)
    }

    @Test func aHostilePatternTakesNoTime() throws {
        let glob = try #require(GlobPattern(String(repeating: "*a", count: 30) + "b"))
        #expect(!glob.matches(Array(repeating: "a", count: 512)))
    }

    @Test func theExactNameComesBeforePatterns() throws {
        let apps = MatrixAppDirectory([
            try MatrixVectors.app("com.example.*"), try MatrixVectors.app("com.example.a"),
            try MatrixVectors.app("*.b"),
        ])
        #expect(apps.match("com.example.a") == .app(try MatrixVectors.app("com.example.a")))
        #expect(apps.match("com.example.c") == .app(try MatrixVectors.app("com.example.*")))
        #expect(apps.match("org.b") == .app(try MatrixVectors.app("*.b")))
        #expect(apps.match("org.c") == .none)
    }

    /// A neighbour's pattern that a database has from before does not stand in the way of an app's own.
    @Test func theLongestBeginningComesBeforeOtherPatterns() throws {
        let names = ["*", "com.*", "com.example.*", "com.example.?.prod", "*.prod", "com.example.a*"]
        // In any order.
        for names in [names, names.reversed()] {
            let apps = MatrixAppDirectory(try names.map { try MatrixVectors.app($0) })
            for (appID, name) in [
                ("org.c", "*"), ("com.c", "com.*"), ("com.example.b", "com.example.*"),
                ("com.example.ab", "com.example.a*"),
            ] {
                #expect(apps.match(appID) == .app(try MatrixVectors.app(name)), "\(appID)")
            }
            // The longer beginning of a third one decides between two that are alike.
            #expect(apps.match("com.example.b.prod") == .ambiguous)
            #expect(apps.match("com.example.a.prod") == .app(try MatrixVectors.app("com.example.a*")))
            #expect(apps.match("org.prod") == .ambiguous)
        }
        let damaged = MatrixAppDirectory([try MatrixVectors.app("*")], damaged: ["com.*": 0])
        #expect(damaged.match("com.a") == .damaged)
        #expect(damaged.match("org.a") == .app(try MatrixVectors.app("*")))
    }

    /// A neighbour's name from before an app was added takes none of the pushes whose `app_id` begins with its bundle id.
    @Test func theAppsOwnBeginningComesBeforeItsNeighboursNames() throws {
        let own = try MatrixVectors.app("com.victim.*", of: "com.victim", id: 2)
        let neighbours = try ["com.victim.i*", "com.victim.ios", "com.victim.?*", "*", "com.victim"].map {
            try MatrixVectors.app($0, of: "com.example.Other")
        }
        // In any order.
        for apps in [[own] + neighbours, neighbours + [own]] {
            let apps = MatrixAppDirectory(apps)
            for appID in ["com.victim.ios", "com.victim.ios.dev", "com.victim.mac", "com.victim."] {
                #expect(apps.match(appID) == .app(own), "\(appID)")
            }
            #expect(apps.match("com.victims") == .app(neighbours[3]))
            #expect(apps.match("com.victim") == .app(neighbours[4]), "it has no bridge of this name")
        }
        // One that cannot be read is still the app's, and its clip's comes before it.
        let clip = try MatrixVectors.app("com.victim.Clip.*", of: "com.victim.Clip", id: 3)
        let damaged = MatrixAppDirectory(neighbours + [clip], damaged: ["com.victim.*": 10])
        #expect(damaged.match("com.victim.ios") == .damaged)
        #expect(damaged.match("com.victim.Clip.ios") == .app(clip))
    }

    @Test func aLongerNameThanAnAppMayHaveIsNone() throws {
        let app = try MatrixVectors.app("*")
        #expect(MatrixAppDirectory([app]).match(String(repeating: "ä", count: 64)) == .app(app))
        #expect(MatrixAppDirectory([app]).match(String(repeating: "ä", count: 65)) == .none)
    }

    @Test func onlyAnAppThatIsNotThereIsRejected() throws {
        let known = try MatrixVectors.app("com.example.*")
        let other = try MatrixVectors.app("com.example.?yApp")
        #expect(try MatrixVectors.plans(Self.notification("org.nobody"), [known]) == [.reject(.unknownApp)])
        let bare = try MatrixVectors.app("bare", hasCredential: false)
        for (appID, apps) in [("com.example.MyApp", [known, other]), ("bare", [bare]), ("damaged", [known])] {
            do {
                _ = try MatrixVectors.plans(Self.notification(appID), apps, damaged: ["damaged"])
                Issue.record("\(appID) has a plan")
            } catch {
                #expect((error as? MatrixError)?.status == 502)
            }
        }
    }

    @Test func aDamagedPatternRejectsNobody() throws {
        #expect(throws: MatrixError.self) {
            try MatrixVectors.plans(Self.notification("com.example.a"), [], damaged: ["com.*"])
        }
    }

    @Test func aPushkeyThatIsNoTokenIsRejected() throws {
        let app = try MatrixVectors.app()
        let notification = try Self.notification(MatrixVectors.appID, "fcm:token")
        #expect(try MatrixVectors.plans(notification, [app]) == [.reject(.noToken)])
        // It can never be sent to, with or without a credential.
        let bare = try MatrixVectors.app(hasCredential: false)
        #expect(try MatrixVectors.plans(notification, [bare]) == [.reject(.noToken)])
    }

    @Test func addressesAreForwardedWhereSomethingForwards() throws {
        let notification = try Self.notification(MatrixVectors.appID, "https://push.example.org/1")
        let app = try MatrixVectors.app(settings: ["unifiedPush": true])
        #expect(try MatrixVectors.plans(notification, [app], forwardsAddresses: true) == [.forward(app: app)])
        #expect(try MatrixVectors.plans(notification, [app]) == [.reject(.noToken)])
        let plain = try MatrixVectors.app()
        #expect(try MatrixVectors.plans(notification, [plain], forwardsAddresses: true) == [.reject(.noToken)])
        #expect(MatrixAppDirectory([app]).forwardsAddresses)
        #expect(!MatrixAppDirectory([plain]).forwardsAddresses)
    }

    @Test func aRepeatedEventHasTheSameIdentity() throws {
        func identity(_ event: String, _ pushkey: String, unread: Int64, _ environment: PushEnvironment?) throws
            -> Idempotency?
        {
            let members: [String: JSONValue] = ["event_id": .string(event), "counts": ["unread": .integer(unread)]]
            let body = MatrixVectors.body(members, device: ["pushkey": .string(pushkey)])
            let app = try MatrixVectors.app(environment: environment)
            guard case .push(let push)? = try MatrixVectors.plans(try MatrixVectors.notification(body), [app]).first
            else { return nil }
            return push.idempotency
        }
        let first = try #require(try identity("$e", MatrixVectors.tokenA, unread: 1, .production))
        #expect(try identity("$e", Vectors.tokenA, unread: 2, .production) == first)
        #expect(first.key.hasPrefix("matrix "))
        #expect(first.key.utf8.count <= 200)
        #expect(try identity("$f", MatrixVectors.tokenA, unread: 1, .production) != first)
        #expect(try identity("$e", MatrixVectors.tokenB, unread: 1, .production) != first)
        #expect(try identity("$e", MatrixVectors.tokenA, unread: 1, .sandbox) != first)
    }

    @Test func settingsAreChecked() throws {
        let settings = try MatrixVectors.settings([
            "counts": false, "sound": true, "collapse": true, "unifiedPush": true,
            "templates": ["MSG_FROM_USER": "one", "*": "all"],
        ])
        #expect(settings.template(for: "MSG_FROM_USER") == "one")
        #expect(settings.template(for: "IMAGE_FROM_USER") == "all")
        #expect(!settings.counts && settings.sound && settings.collapse && settings.unifiedPush)
        let standard = try MatrixVectors.settings()
        #expect(standard.counts && !standard.sound && !standard.collapse && !standard.unifiedPush)
        #expect(standard.template(for: "MSG_FROM_USER") == nil)
        for wrong in [
            ["count": true], ["counts": 1], ["templates": "x"], ["templates": ["MSG": "x"]], ["templates": ["*": ""]],
        ] as [JSONValue] {
            #expect(throws: RequestError.self) { try MatrixVectors.settings(wrong) }
        }
        try MatrixSettings.check(name: String(repeating: "a", count: 64))
        #expect(throws: RequestError.self) { try MatrixSettings.check(name: String(repeating: "a", count: 65)) }
    }

    @Test func whatIsThrownAtItNeverTraps() throws {
        var generator = SeededGenerator(seed: 17)
        let app = try MatrixVectors.app(settings: ["sound": true, "collapse": true])
        let seeds = [MatrixVectors.eventOnly, MatrixVectors.full, MatrixVectors.countOnly].map { Array($0.utf8) }
        for _ in 0..<3000 {
            var bytes = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.removeSubrange(position..<min(bytes.count, position + 5))
                default: bytes.insert(contentsOf: Array("null,{[\"".utf8), at: position)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard let notification = try? MatrixNotification(parsing: bytes),
                let plans = try? MatrixVectors.plans(notification, [app])
            else { continue }
            #expect(plans.count == notification.devices.count)
        }
    }
}
