public import Foundation

extension Martlet {
    /// Notes the launch of the app, or its return to the foreground, and the settings of the device.
    ///
    /// Call it at every launch, and when the user's permission changes. Nothing is sent if the provider has it all.
    public func launched(_ profile: DeviceProfile) {
        self.outbox.launched()
        self.change { machine in
            machine.launched()
            for (name, value) in profile.members { machine.want(name, value) }
        }
    }

    /// Registers a token. Call it with every token that the system gives; at every launch, for the app's own.
    public func register(_ token: Data, as kind: TokenKind = .alert) {
        let (environment, now, report) = (self.environment, self.surroundings.now(), self.report)
        self.change { machine in
            guard !machine.register(token, as: kind, environment: environment, now: now) else { return }
            let message = "a token has 1 to 512 bytes, and an activity's id 1 to 255"
            report(.refused(member: "token", code: "invalid_token", message: message))
        }
    }

    /// Forgets a token, such as that of a Live Activity which has ended.
    public func forget(_ kind: TokenKind) { self.change { $0.remove(kind) } }

    /// Attaches the user that the app's back end has proven with a signed text (a JWT). Call it after the login, and when
    /// ``Event/userProofNeeded(installation:why:)`` asks for it.
    public func attach(userProof: String) {
        guard (1...4096).contains(userProof.utf8.count) else {
            let message = "a proof has 1 to 4096 bytes"
            return self.report(.refused(member: "userProof", code: "invalid_user_proof", message: message))
        }
        self.change { $0.want("userProof", .string(userProof)) }
    }

    /// Detaches the user, as after a logout.
    public func detach() { self.change { $0.want("userProof", .null) } }

    /// Removes the installation from the provider, and forgets its user, its tokens, its receipts and what the user decided.
    public func unregister() {
        self.removeReceipts()
        self.change { $0.leave() }
    }

    /// Sets all tags. The app has to allow installations to write them (`installationTags`).
    public func setTags(_ tags: Set<String>) {
        self.change { $0.want("tags", .array(tags.sorted().map { .string($0) })) }
    }

    /// Sets an attribute, or removes it with `null`. The app has to allow installations to write it (`installationAttributes`).
    public func setAttribute(_ name: String, to value: JSONValue) {
        self.change { $0.want("attributes.\(name)", value) }
    }

    /// Sets what the user has decided about notifications on this device.
    ///
    /// There are at most 100 categories of 64 bytes each.
    public func setPreferences(_ preferences: Preferences) {
        let categories = preferences.optOuts
        guard categories.count <= Preferences.maximumCategories,
            categories.allSatisfy({ (1...Preferences.maximumCategory).contains($0.utf8.count) })
        else {
            let message =
                "at most \(Preferences.maximumCategories) categories of \(Preferences.maximumCategory) bytes each"
            return self.report(.refused(member: "preferences", code: "invalid_value", message: message))
        }
        self.change { $0.want("preferences", preferences.json) }
    }

    /// Sets the receipts that the user allows. Those that are stricter than before hold for receipts that wait, too.
    public func setReceiptPrivacy(_ privacy: ReceiptPrivacy) { self.change { $0.setReceiptPrivacy(privacy) } }

    /// Sets the public key to which the provider encrypts, or removes it.
    func setEncryptionKey(id: String, publicKey: Data?) {
        let value = publicKey.map { JSONValue.object(["id": .string(id), "key": .string($0.base64EncodedString())]) }
        self.change { $0.want("encryptionKey", value ?? .null) }
    }
}
