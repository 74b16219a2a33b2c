public import Foundation

extension Martlet {
    /// Sets the profile of the device, and records a launch of the app or its return to the foreground.
    ///
    /// Call this method at every launch, and when the user's permission changes. A profile that the provider already
    /// has is not sent again.
    /// - Throws: ``UsageError`` for a string of more than 256 bytes, and in a service extension.
    public func updateProfile(_ profile: DeviceProfile) throws(UsageError) {
        let members = profile.members
        for name in members.keys.sorted() where members[name]?.string?.utf8.count ?? 0 > Self.texts.upperBound {
            throw .invalidArgument(name: name, reason: "use at most \(Self.texts.upperBound) bytes")
        }
        try self.update { machine in
            machine.launched()
            for (name, value) in members { machine.want(name, value) }
        }
        self.loadOutbox()
        self.outbox.launched()
        self.storeBackOff()
    }

    /// Registers a token. Call this method with every token that the system issues, and at every launch with the device
    /// token.
    /// - Throws: ``UsageError`` for an invalid token or kind, and in a service extension.
    public func register(token: Data, kind: TokenKind = .alert) throws(UsageError) {
        guard RegistrationStateMachine.isToken(token, kind) else {
            throw .invalidArgument(name: "token", reason: "use 1 to 512 bytes, and 1 to 255 for the id of an activity")
        }
        let (environment, now) = (self.environment, self.dependencies.now())
        try self.update { _ = $0.register(token, as: kind, environment: environment, now: now) }
    }

    /// Removes a token, such as the token of a Live Activity that has ended, from future registrations.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    public func forgetToken(of kind: TokenKind) throws(UsageError) { try self.update { $0.remove(kind) } }

    /// Attaches the user whom the app's back end attests with a signed JWT, the user proof. Call this method after the
    /// login, and when ``Event/userProofNeeded(installation:reason:)`` requests it.
    ///
    /// If the provider refuses the proof, the previous user is detached, because the device may be in other hands.
    /// - Throws: ``UsageError`` for a string that is not a JWT of at most 4,096 bytes, and in a service extension.
    public func attach(userProof: String) throws(UsageError) {
        guard (1...4096).contains(userProof.utf8.count), userProof.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw .invalidArgument(name: "userProof", reason: "use a JWT of at most 4096 bytes")
        }
        try self.update { $0.want("userProof", .string(userProof)) }
    }

    /// Detaches the user from the installation, for example after a logout.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    public func detach() throws(UsageError) { try self.update { $0.want("userProof", .null) } }

    /// Removes the installation from the provider, and deletes its user, its tokens, its receipts, its preferences and
    /// the keys for encrypted content that are in the same storage.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    public func unregister() throws(UsageError) {
        try self.update { $0.leave() }
        self.removeReceipts()
        self.removeKeys()
    }

    private func removeKeys() {
        #if Encryption
        do {
            try EncryptionKeys(storage: self.storage).removeAll()
        } catch {
            self.report(.storageFailed(reason: "\(error)"))
        }
        #endif
    }

    /// Replaces all tags of the installation. The app's settings at the provider must allow installations to write them
    /// (`installationTags`).
    /// - Throws: ``UsageError`` for more than 100 tags, a tag of more than 256 bytes, or more than 8,000 bytes in all,
    ///   and in a service extension.
    public func setTags(_ tags: Set<String>) throws(UsageError) {
        let value = JSONValue.array(tags.sorted().map { .string($0) })
        guard tags.count <= 100, tags.allSatisfy({ Self.texts.contains($0.utf8.count) }), Self.fits(value) else {
            throw .invalidArgument(name: "tags", reason: "use at most 100 tags of 1 to 256 bytes, 8 kB together")
        }
        try self.update { $0.want("tags", value) }
    }

    /// Sets an attribute to a string, a number or a Boolean, or removes it with `null`.
    ///
    /// The app's settings at the provider must allow installations to write the attribute (`installationAttributes`).
    /// An installation has at most 100 attributes.
    /// - Throws: ``UsageError`` for a name or a string of more than 256 bytes, a number that is not finite, a value of
    ///   another type, or more than 100 attributes, and in a service extension.
    public func setAttribute(_ name: String, to value: JSONValue) throws(UsageError) {
        let isScalar = value.array == nil && value.object == nil
        guard Self.texts.contains(name.utf8.count), isScalar, value.string?.utf8.count ?? 0 <= Self.texts.upperBound
        else {
            throw .invalidArgument(
                name: "attributes",
                reason: "use a name of 1 to 256 bytes, and a text of at most 256 bytes, a number or a Boolean"
            )
        }
        var value = value
        if case .number(let number) = value {
            guard number.isFinite else {
                throw .invalidArgument(name: "attributes", reason: "use a finite number: JSON has no other")
            }
            // The value equals the one that is read from the storage.
            value = Int64(exactly: number).map { .integer($0) } ?? value
        }
        let tooMany = "remove one: there are at most \(RegistrationStateMachine.maximumAttributes)"
        if self.configuration.role == .app, self.state()?.hasRoom(forAttribute: name) == false {
            throw .invalidArgument(name: "attributes", reason: tooMany)
        }
        let report = self.report
        try self.update { [value] machine in
            // The change has waited for the storage, and another may have taken the room.
            guard !machine.setAttribute(name, to: value) else { return }
            report(.refused(member: "attributes.\(name)", code: "too_many", message: tooMany))
        }
    }

    /// Sets the user's preferences for notifications on this device.
    /// - Throws: ``UsageError`` for more than 100 categories or one of more than 64 bytes, and in a service extension.
    public func setPreferences(_ preferences: NotificationPreferences) throws(UsageError) {
        let (most, longest) = (NotificationPreferences.maximumCategories, NotificationPreferences.maximumCategory)
        let categories = preferences.optOuts
        guard categories.count <= most, categories.allSatisfy({ (1...longest).contains($0.utf8.count) }),
            Self.fits(preferences.json)
        else {
            throw .invalidArgument(name: "optOuts", reason: "use at most \(most) categories of \(longest) bytes each")
        }
        try self.update { $0.want("preferences", preferences.json) }
    }

    /// Sets the level of privacy that the user allows for receipts. A stricter level also applies to unsent receipts.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    public func setReceiptPrivacy(_ privacy: ReceiptPrivacy) throws(UsageError) {
        try self.update { $0.setReceiptPrivacy(privacy) }
    }

    #if Encryption
    /// Registers the key to which the provider encrypts content, or turns encryption off for `nil`.
    ///
    /// Call this method with ``EncryptionKeys/current()`` at each launch, and after ``EncryptionKeys/rotate()``. The
    /// keys must be in the storage of this ``Martlet``.
    /// - Throws: ``UsageError/serviceExtension`` in a service extension.
    public func setEncryptionKey(_ key: EncryptionKey?) throws(UsageError) {
        let value = key.map { key in
            JSONValue.object(["id": .string(key.id), "key": .string(key.publicKey.base64EncodedString())])
        }
        try self.update { $0.want("encryptionKey", value ?? .null) }
    }
    #endif

    /// The permitted lengths, in bytes, of tags, attribute names and strings.
    private static let texts = 1...256

    /// Returns whether a member has at most 8,000 bytes of JSON, which leaves room for others in a request.
    private static func fits(_ value: JSONValue) -> Bool { value.json.count <= 8000 }
}
