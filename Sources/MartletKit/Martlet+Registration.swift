public import Foundation

extension Martlet {
    /// Notes the launch of the app, or its return to the foreground, and the settings of the device.
    ///
    /// Call it at every launch, and when the user's permission changes. Nothing is sent if the provider has it all.
    public func launched(_ profile: DeviceProfile) {
        self.loadOutbox()
        self.outbox.launched()
        self.storeBackOff()
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
            report(.refused(member: "token", code: "invalid_value", message: message))
        }
    }

    /// Forgets a token, such as that of a Live Activity which has ended.
    public func forget(_ kind: TokenKind) { self.change { $0.remove(kind) } }

    /// Attaches the user that the app's back end has proven with a signed text (a JWT). Call it after the login, and when
    /// ``Event/userProofNeeded(installation:why:)`` asks for it.
    public func attach(userProof: String) {
        guard (1...4096).contains(userProof.utf8.count), userProof.utf8.allSatisfy({ (33...126).contains($0) }) else {
            return self.refuse("userProof", "a proof is a JWT of at most 4096 bytes")
        }
        self.change { $0.want("userProof", .string(userProof)) }
    }

    /// Detaches the user, as after a logout.
    public func detach() { self.change { $0.want("userProof", .null) } }

    /// Removes the installation from the provider, and forgets its user, its tokens, its receipts, its preferences and the keys for
    /// encrypted content that are in the same storage.
    public func unregister() {
        if self.configuration.role == .app {
            self.removeReceipts()
            self.removeKeys()
        }
        self.change { $0.leave() }
    }

    /// Sets all tags: at most 100 of 256 bytes each, 8 kB together. The app has to allow installations to write them (`installationTags`).
    public func setTags(_ tags: Set<String>) {
        let value = JSONValue.array(tags.sorted().map { .string($0) })
        guard tags.count <= 100, tags.allSatisfy({ Self.texts.contains($0.utf8.count) }), Self.fits(value) else {
            return self.refuse("tags", "at most 100 tags of 1 to 256 bytes, 8 kB together")
        }
        self.change { $0.want("tags", value) }
    }

    /// Sets an attribute to a text, a number or a Boolean, or removes it with `null`.
    ///
    /// The app has to allow installations to write it (`installationAttributes`). There are at most 100; names and texts have
    /// 256 bytes at most, and numbers are finite.
    public func setAttribute(_ name: String, to value: JSONValue) {
        let isScalar = value.array == nil && value.object == nil
        guard Self.texts.contains(name.utf8.count), isScalar, value.string?.utf8.count ?? 0 <= Self.texts.upperBound
        else {
            return self.refuse("attributes", "a name of 1 to 256 bytes, and a text of 256 bytes, a number or a Boolean")
        }
        var value = value
        if case .number(let number) = value {
            guard number.isFinite else { return self.refuse("attributes", "JSON has finite numbers only") }
            // Equal to what it is after a restart.
            value = Int64(exactly: number).map { .integer($0) } ?? value
        }
        let report = self.report
        self.change { [value] machine in
            guard !machine.setAttribute(name, to: value) else { return }
            report(
                .refused(
                    member: "attributes",
                    code: "invalid_value",
                    message: "at most \(RegistrationStateMachine.maximumAttributes) attributes"
                )
            )
        }
    }

    /// Sets what the user has decided about notifications on this device.
    ///
    /// There are at most 100 categories of 64 bytes each.
    public func setPreferences(_ preferences: Preferences) {
        let (most, longest) = (Preferences.maximumCategories, Preferences.maximumCategory)
        let categories = preferences.optOuts
        guard categories.count <= most, categories.allSatisfy({ (1...longest).contains($0.utf8.count) }),
            Self.fits(preferences.json)
        else {
            return self.refuse("preferences", "at most \(most) categories of \(longest) bytes each")
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

    /// The lengths of tags, and of names of attributes, in bytes.
    private static let texts = 1...256

    /// Returns `true` for a member that leaves room for others in a request.
    private static func fits(_ value: JSONValue) -> Bool { value.json.count <= 8000 }

    private func refuse(_ member: String, _ message: String) {
        self.report(.refused(member: member, code: "invalid_value", message: message))
    }
}
