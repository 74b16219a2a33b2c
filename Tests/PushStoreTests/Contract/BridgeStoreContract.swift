import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// Kinds for which a store has no rules of its own.
extension BridgeKind {
    static let fcm = BridgeKind("fcm")
    static let gorush = BridgeKind("gorush")
    static let xmpp = BridgeKind("xmpp")
}

/// The contract of every ``BridgeStore``.
@Suite(.timeLimit(.patience)) struct BridgeStoreContract: StoreContract {
    /// Sets a bridge.
    /// - Returns: The reason for which it is not set; `nil` for none.
    private func set(
        _ kind: BridgeKind,
        _ name: String,
        of app: Int64,
        in store: any ProviderStore
    ) async throws -> BridgeChangeResult? {
        let bridge = BridgeRecord(kind: kind, name: name, app: app, changedAt: self.now)
        let setting = try await store.setBridge(bridge, keepsSecret: false)
        guard case .done(let stored, _) = setting else { return setting }
        #expect(try await store.bridge(kind, name: name) == stored)
        return nil
    }

    private func add(_ bundleID: String, to store: any ProviderStore) async throws -> Int64 {
        let topic = try #require(Topic(bundleID))
        return try await store.addApp(bundleID: topic, name: nil, now: self.now).app.id
    }

    /// Returns the bridges of all apps that lose pushes to other apps.
    private func overruled(_ store: any ProviderStore) async throws -> [OverruledBridge] {
        try await store.overruledBridges(apps: try await store.apps().map(\.id), limit: 100)
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasAMaximum(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...BridgeRecord.maximumOfApp {
                #expect(try await self.set(number % 2 == 0 ? .fcm : .xmpp, "a\(number)", of: app, in: store) == nil)
            }
            #expect(try await self.set(.gorush, "default", of: app, in: store) == .tooMany)
            #expect(try await store.bridges(app: app).count == BridgeRecord.maximumOfApp)
            #expect(try await self.set(.fcm, "a2", of: app, in: store) == nil, "it is there already")
            let other = try await self.add("com.example.Other", to: store)
            #expect(try await self.set(.gorush, "default", of: other, in: store) == nil)
            #expect(try await store.removeBridge(.fcm, name: "a2", app: app))
            #expect(try await self.set(.gorush, Vectors.bundleID, of: app, in: store) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func bridgesKeepTheOrderInWhichTheyWereAdded(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for name in ["c", "a", "b", "c"] { #expect(try await self.set(.gorush, name, of: app, in: store) == nil) }
            #expect(try await self.names(store) == ["c", "a", "b"])
            let wasThere = try await store.removeBridge(.gorush, name: "a", app: app)
            #expect(wasThere)
            #expect(try await self.set(.gorush, "a", of: app, in: store) == nil)
            #expect(try await self.names(store) == ["c", "b", "a"])
        }
    }

    /// Returns the names of gorush's bridges in the order in which they were added.
    private func names(_ store: any ProviderStore) async throws -> [String] {
        try await store.bridges(kind: .gorush).sorted { $0.number < $1.number }.map(\.name)
    }

    @Test(arguments: StoreBackend.available)
    func namesAreOfOneApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await self.add("com.example.Other", to: store)
            for name in ["org.shop.*", "net.exact"] {
                #expect(try await self.set(.matrix, name, of: app, in: store) == nil)
            }
            #expect(try await self.set(.matrix, "net.exact", of: other, in: store) == .nameTaken)
            for name in ["*", "org.*", "org.shop.ios", "*.ios", "net.exac?", "?et.exact"] {
                #expect(try await self.set(.matrix, name, of: other, in: store) == .nameOverlaps, "\(name)")
            }
            for name in ["org.shop", "net.exact.?", "org.shoe.*"] {
                #expect(try await self.set(.matrix, name, of: other, in: store) == nil, "\(name)")
            }
            // The names of an app may be in each other's way, and other kinds have no patterns.
            #expect(try await self.set(.matrix, "org.shop.ios.*", of: app, in: store) == nil)
            #expect(try await self.set(.xmpp, "org.shop.ios", of: other, in: store) == nil)
        }
    }

    /// A pattern that was there first keeps nobody's own names away, and takes no pushes of theirs later.
    @Test(arguments: StoreBackend.available)
    func aNameThatBeginsWithTheBundleIDIsTheApps(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await self.add("com.example.Other", to: store)
            #expect(try await self.set(.matrix, "*", of: other, in: store) == nil)
            for name in [Vectors.bundleID, "\(Vectors.bundleID).*"] {
                #expect(try await self.set(.matrix, name, of: app, in: store) == nil, "\(name)")
            }
            for name in ["\(Vectors.bundleID)*", "\(Vectors.bundleID)lication", "org.shop"] {
                #expect(try await self.set(.matrix, name, of: app, in: store) == .nameOverlaps, "\(name)")
            }
            #expect(try await self.set(.matrix, "\(Vectors.bundleID).ios", of: other, in: store) == .nameOverlaps)
            #expect(try await self.set(.matrix, "*", of: other, in: store) == nil, "it can be changed")
            // Of two apps that have the beginning, it belongs to the one with the longer bundle id.
            let clip = try await self.add("\(Vectors.bundleID).Clip", to: store)
            #expect(try await self.set(.matrix, "\(Vectors.bundleID).Clip.ios", of: clip, in: store) == nil)
            let vendor = try await self.add("com.example", to: store)
            #expect(try await self.set(.matrix, "com.example.*", of: vendor, in: store) == .nameOverlaps)
        }
    }

    /// A neighbour that comes before the app has any bridge takes no name with its bundle id: later the app's own would not be better.
    @Test(arguments: StoreBackend.available)
    func aNameThatBeginsWithAnotherAppsBundleIDIsRefused(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await self.add("com.example.Other", to: store)
            let clip = try await self.add("\(Vectors.bundleID).Clip", to: store)
            for end in ["", ".ios", ".i*", ".*", ".?*", ".Clip", ".Clip.*"] {
                let name = Vectors.bundleID + end
                #expect(try await self.set(.matrix, name, of: other, in: store) == .nameOverlaps, "\(name)")
                #expect(try await self.set(.xmpp, name, of: other, in: store) == nil, "others have no patterns")
            }
            // Of two apps, the longer bundle id decides.
            #expect(try await self.set(.matrix, "\(Vectors.bundleID).Clip.i*", of: app, in: store) == .nameOverlaps)
            #expect(try await self.set(.matrix, "\(Vectors.bundleID).Clip.i*", of: clip, in: store) == nil)
            #expect(try await self.set(.matrix, "\(Vectors.bundleID).ios", of: app, in: store) == nil)
            // It is not the beginning of a bundle id, but all of it.
            #expect(try await self.set(.matrix, "\(Vectors.bundleID)s.*", of: other, in: store) == nil)
            #expect(try await self.set(.matrix, "com.*.ios", of: other, in: store) == .nameOverlaps, "of a bridge")
            let gone = try await self.add("org.gone", to: store)
            #expect(try await self.set(.matrix, "org.gone.ios", of: other, in: store) == .nameOverlaps)
            #expect(try await store.eraseApp(gone, now: self.now, steady: self.now) != nil)
            #expect(try await self.set(.matrix, "org.gone.ios", of: other, in: store) == nil)
        }
    }

    /// An old provider is known by the topic of its certificate, so that a neighbour with that name would take its pushes.
    @Test(arguments: StoreBackend.available)
    func aTopicIsOfItsAppAlone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await self.add("com.example.Other", to: store)
            let complication = try await self.add("\(Vectors.bundleID).complication", to: store)
            for name in [Vectors.bundleID, "\(Vectors.bundleID).voip"] {
                #expect(try await self.set(.binary, name, of: other, in: store) == .topicTaken, "\(name)")
                #expect(try await self.set(.binary, name, of: app, in: store) == nil, "\(name)")
                #expect(try await self.set(.gorush, name, of: other, in: store) == nil, "\(name)")
            }
            #expect(try await self.set(.binary, "\(Vectors.bundleID).Clip", of: other, in: store) == nil)
            // The whole topic goes before the one without its suffix.
            let whole = "\(Vectors.bundleID).complication"
            #expect(try await self.set(.binary, whole, of: app, in: store) == .topicTaken)
            #expect(try await self.set(.binary, whole, of: complication, in: store) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppGetsItsTopicFromANeighbourThatHasItFromBefore(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let name = "org.later"
            var bridge = BridgeRecord(kind: .binary, name: name, app: app, secret: "theirs", changedAt: self.now)
            _ = try await store.setBridge(bridge, keepsSecret: false)
            #expect(try await self.overruled(store) == [])
            let later = try await self.add(name, to: store)
            let overruled = try await self.overruled(store)
            #expect(overruled.map(\.name) == [name] && overruled.map(\.app) == [app])
            #expect(overruled.first?.owner.name == name && overruled.first?.bundleID.name == Vectors.bundleID)
            #expect(try await store.setBridge(bridge, keepsSecret: true) == .topicTaken)
            (bridge.app, bridge.secret) = (later, "")
            guard case .done(let own, let displaced) = try await store.setBridge(bridge, keepsSecret: true) else {
                Issue.record("the app does not get its topic")
                return
            }
            #expect(own.app == later && own.secret.isEmpty, "the neighbour's secret is not the app's")
            #expect(displaced?.name == Vectors.bundleID)
            #expect(try await store.bridges(kind: .binary) == [own])
            #expect(try await self.overruled(store) == [])
            #expect(try await store.setBridge(own, keepsSecret: true) == .done(own, displaced: nil))
        }
    }

    @Test(arguments: StoreBackend.available)
    func matrixBridgesThatLoseAppIDsAreOverruled(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for name in ["*", "org.later.ios", "org.later.m*", "org.latest", "\(Vectors.bundleID).*"] {
                #expect(try await self.set(.matrix, name, of: app, in: store) == nil, "\(name)")
            }
            let later = try await self.add("org.later", to: store)
            #expect(try await self.overruled(store) == [], "without bridges of the app they have their pushes")
            #expect(try await self.set(.matrix, "org.later.i*", of: later, in: store) == nil)
            #expect(try await self.overruled(store).map(\.name) == ["org.later.ios"])
            #expect(try await self.set(.matrix, "org.later.*", of: later, in: store) == nil)
            let overruled = try await self.overruled(store)
            #expect(overruled.map(\.name) == ["org.later.ios", "org.later.m*"])
            #expect(overruled.allSatisfy { $0.app == app && $0.owner.name == "org.later" && $0.kind == .matrix })
            let wasThere = try await store.removeBridge(.matrix, name: "org.later.ios", app: app)
            #expect(wasThere)
            #expect(try await self.overruled(store).map(\.name) == ["org.later.m*"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func overruledBridgesAreOfSomeAppsTheBinaryOnesFirst(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await self.add("com.example.Other", to: store)
            #expect(try await self.set(.binary, "org.later.voip", of: app, in: store) == nil)
            #expect(try await self.set(.matrix, "org.later.ios", of: app, in: store) == nil)
            #expect(try await self.set(.binary, "org.later", of: other, in: store) == nil)
            let later = try await self.add("org.later", to: store)
            #expect(try await self.set(.matrix, "org.later.*", of: later, in: store) == nil)
            let names = try await self.overruled(store).map(\.name)
            #expect(names == ["org.later", "org.later.voip", "org.later.ios"])
            for (apps, limit, expected) in [
                ([app], 9, ["org.later.voip", "org.later.ios"]), ([app, other], 2, ["org.later", "org.later.voip"]),
                ([app, other], 1, ["org.later"]), ([other], 9, ["org.later"]), ([later], 9, []), ([], 9, []),
            ] as [([Int64], Int, [String])] {
                let found = try await store.overruledBridges(apps: apps, limit: limit)
                #expect(found.map(\.name) == expected, "\(apps) \(limit)")
            }
        }
    }

    /// With an app, names of other apps' bridges become its topics.
    @Test(arguments: StoreBackend.available)
    func theGenerationRisesWithAnAppThatIsAdded(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let before = store.bridgeGeneration
            _ = try await self.add("org.later", to: store)
            let added = store.bridgeGeneration
            #expect(added > before)
            _ = try await self.add("org.later", to: store)
            #expect(store.bridgeGeneration == added, "it is there already")
        }
    }
}
