import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``BridgeStore``.
@Suite(.timeLimit(.patience)) struct BridgeStoreContract: StoreContract {
    /// Sets a bridge.
    /// - Returns: The reason for which it is not set; `nil` for none.
    private func set(
        _ kind: BridgeKind,
        _ name: String,
        of app: Int64,
        in store: any ProviderStore
    ) async throws -> BridgeSetting? {
        let bridge = BridgeRecord(kind: kind, name: name, app: app, changedAt: self.now)
        let setting = try await store.setBridge(bridge, keepsSecret: false)
        guard case .done(let stored) = setting else { return setting }
        #expect(try await store.bridge(kind, name: name) == stored)
        return nil
    }

    private func add(_ bundleID: String, to store: any ProviderStore) async throws -> Int64 {
        let topic = try #require(Topic(bundleID))
        return try await store.addApp(bundleID: topic, name: nil, now: self.now).app.id
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
}
